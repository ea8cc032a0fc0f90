import "./main.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./model/queries.js";
import { takeTokensOfAddress } from "./model/session.js";
import { applyTheme, currentTheme } from "./model/theme.js";
import { App } from "./parts/app.js";

applyTheme(currentTheme());
takeTokensOfAddress();
const root = document.querySelector("#root");
if (root === null) throw new Error("the page has no place for the console");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);

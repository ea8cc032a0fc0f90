/** Style and script of the documentation page: small enough to stand in it, so that it needs nothing else. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --back: #fff; --text: #1c1f23; --quiet: #5b6470; --line: #d9dde3; --soft: #f4f5f7; --link: #0b6bcb;
  --get: #0b6bcb; --post: #1a7f37; --patch: #8f5a00; --delete: #c0362c; }
@media (prefers-color-scheme: dark) { :root { --back: #14171a; --text: #e3e6ea; --quiet: #9aa4b0; --line: #333a42; --soft: #1e2327; --link: #6cb2ff;
  --get: #6cb2ff; --post: #57c878; --patch: #e0ad4d; --delete: #ff8a80; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; background: var(--back); color: var(--text); display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
a { color: var(--link); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.25rem 1rem 3rem; border-right: 1px solid var(--line); font-size: .9rem; }
nav > details { border: 0; margin: 0; } nav > details > summary { display: none; }
nav a { display: block; padding: .12rem .5rem; color: inherit; text-decoration: none; border-radius: .3rem; overflow-wrap: anywhere; }
nav a:hover, nav a:focus-visible { background: var(--soft); }
nav .top { font-weight: 600; margin-top: .6rem; }
nav .verb { font-size: .7rem; min-width: 3.6em; display: inline-block; }
input { width: 100%; padding: .45rem .7rem; font: inherit; border: 1px solid var(--line); border-radius: .4rem; background: var(--soft); color: inherit; }
main { padding: 1.75rem 2.5rem 6rem; max-width: 66rem; }
h1 { margin: 0 0 .5rem; font-size: 2rem; } h2 { margin: 3rem 0 .75rem; font-size: 1.4rem; } h3 { margin: 1.5rem 0 .5rem; font-size: 1.05rem; } h4 { margin: 1.1rem 0 .3rem; font-size: .95rem; }
code, pre { font: .86em/1.5 ui-monospace, SFMono-Regular, Menlo, monospace; }
code { background: var(--soft); padding: .1em .35em; border-radius: .25rem; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .75rem 1rem; border-radius: .4rem; overflow: auto; margin: .4rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
pre code { background: none; padding: 0; font-size: 1em; }
details { border: 1px solid var(--line); border-radius: .45rem; margin: .5rem 0; }
summary { cursor: pointer; padding: .55rem .8rem; border-radius: .45rem; }
summary:hover { background: var(--soft); }
.item > summary { display: flex; flex-wrap: wrap; gap: .2rem .8rem; align-items: baseline; }
.item > summary code { background: none; padding: 0; font-size: .92em; font-weight: 600; }
details[open] > summary { border-bottom: 1px solid var(--line); border-radius: .45rem .45rem 0 0; }
.inside { padding: .4rem 1rem 1rem; overflow-x: auto; }
.inside details > summary { font-size: .9rem; padding: .35rem .7rem; } .inside details pre { margin: 0; border-radius: 0 0 .4rem .4rem; }
.verb { font: 700 .78rem ui-monospace, monospace; min-width: 4.5em; }
.get { color: var(--get); } .post { color: var(--post); } .patch { color: var(--patch); } .delete { color: var(--delete); }
.note { color: var(--quiet); font-size: .9em; } .item > summary .note { flex: 1 1 16rem; font-size: .95em; }
.mark { color: var(--quiet); font-size: .8em; } td:first-child code { white-space: nowrap; }
table { border-collapse: collapse; width: 100%; font-size: .92em; }
th, td { text-align: left; vertical-align: top; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 600; font-size: .85em; } tr:last-child td { border-bottom: 0; }
li { margin: .35rem 0; }
[hidden] { display: none; }
@media (max-width: 56rem) {
  body { display: block; }
  nav { position: static; height: auto; border: 0; border-bottom: 1px solid var(--line); padding: 1rem; }
  nav > details { border: 1px solid var(--line); margin-top: .6rem; } nav > details > summary { display: block; } nav > details > div { padding: .3rem .5rem .8rem; }
  main { padding: 1rem 1rem 4rem; } h2 { margin-top: 2rem; }
}
@media (max-width: 40rem) {
  th { display: none; } tr { display: block; padding: .35rem 0; border-bottom: 1px solid var(--line); } tr:last-child { border: 0; } tr:has(th) { display: none; }
  td { display: inline-block; border: 0; padding: 0 .6rem 0 0; } td:last-child { display: block; color: var(--quiet); }
}
`;

export const DOCS_SCRIPT = `
const field = document.getElementById("filter");
const nothing = document.getElementById("nothing");
const items = [...document.querySelectorAll("[data-words]")];
const sections = [...document.querySelectorAll("main > section")];
const reveal = () => { const target = document.getElementById(location.hash.slice(1)); if (target instanceof HTMLDetailsElement) { target.open = true; target.scrollIntoView(); } };
const filter = () => {
  const words = field.value.toLowerCase().split(" ").filter(Boolean);
  for (const item of items) item.hidden = !words.every((word) => item.dataset.words.includes(word));
  for (const section of sections) section.hidden = words.length > 0 && section.querySelector("[data-words]:not([hidden])") === null;
  nothing.hidden = sections.some((section) => !section.hidden);
};
field.addEventListener("input", filter);
addEventListener("keydown", (event) => { if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); } });
addEventListener("hashchange", () => { if (field.value !== "") { field.value = ""; filter(); } reveal(); });
for (const place of document.querySelectorAll(".origin")) place.textContent = location.origin;
if (matchMedia("(max-width: 56rem)").matches) document.getElementById("menu").open = false;
reveal();
`;

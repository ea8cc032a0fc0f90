/** Style sheets are bundled by esbuild and have nothing to import. */
declare module "*.css";

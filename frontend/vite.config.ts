import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [svelte()],
  build: {
    // The oldest webviews we promise: WKWebView of macOS 13, WebView2 of Windows 10.
    target: ['safari16.4', 'chrome109'],
    outDir: 'dist',
    // dist holds a tracked placeholder; scripts/clean.mjs removes the rest.
    emptyOutDir: false,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  test: { include: ['test/**/*.test.ts'], environment: 'jsdom' },
});

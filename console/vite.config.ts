import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** A running service for `npm run dev`. It refuses writes whose host is not that of the page. */
const service = { target: 'http://127.0.0.1:8080', changeOrigin: false }

/**
 * Replaces each file of the build by its compressed forms, so that the service does not compress per
 * request and images are small.
 */
const compressed: Plugin = {
  name: 'compressed',
  async writeBundle({ dir = 'dist' }) {
    const folder = join(dir, 'assets')
    for (const name of await readdir(folder)) {
      if (!/\.(js|css|svg)$/.test(name)) continue
      const content = await readFile(join(folder, name))
      await writeFile(join(folder, `${name}.br`), brotliCompressSync(content))
      await writeFile(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }))
      await rm(join(folder, name))
    }
  },
}

export default defineConfig({
  plugins: [react(), compressed],
  build: {
    emptyOutDir: true,
    target: 'es2023',
    // A data URL of a picture is not worth a hole in the Content-Security-Policy.
    assetsInlineLimit: 0,
    // Injects inline code otherwise, for browsers that are older than the target.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { '/api': service, '/openapi.json': service, '/.well-known': service } },
})

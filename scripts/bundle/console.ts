import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const root = resolve(import.meta.dirname, '../../console')
const vite = resolve(import.meta.dirname, '../../node_modules/vite/bin/vite.js')

/**
 * Builds the console into a folder, by default where a checkout serves it. Vite runs as a process of
 * its own: in a process of tests it would build for development.
 */
export async function buildConsole(folder = join(root, 'dist')): Promise<void> {
  const to = ['--outDir', resolve(folder), '--emptyOutDir']
  await promisify(execFile)(process.execPath, [vite, 'build', '--logLevel', 'warn', ...to], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production' },
  })
}

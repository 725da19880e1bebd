import { existsSync, readFileSync } from 'node:fs'
import { generatedFiles } from './generated-files.ts'

/** Fails if a generated file differs from what `make generate` would write. */
const files = await generatedFiles()
if (files.length < 30) throw new Error('where are the generated files?')
const stale = files.filter(
  ({ path, content }) => !existsSync(path) || readFileSync(path, 'utf8') !== content,
)
for (const { path } of stale) console.error(`${path} is not fresh: run make generate`)
console.log(`${files.length} generated files, ${stale.length} not fresh`)
if (stale.length > 0) process.exitCode = 1

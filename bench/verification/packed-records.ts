import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { toJsonLine } from '../../src/kernel/json-lines.ts'

/** Reads a file of packed records: JSON lines, compressed by gzip. The caller knows their shape. */
export function readRecords<T>(file: string): T[] {
  return readText(file)
    .split('\n')
    .filter((line) => line !== '')
    .map((line): T => JSON.parse(line))
}

/**
 * Packs records, one line each. A file with the same records is left as it is, so that another
 * version of zlib changes no bytes. Returns whether the file was written.
 */
export function packRecords(file: string, records: readonly unknown[]): boolean {
  const text = records.map(toJsonLine).join('')
  if (existsSync(file) && readText(file) === text) return false
  writeFileSync(file, gzipSync(text, { level: 9 }))
  return true
}

function readText(file: string): string {
  return gunzipSync(readFileSync(file)).toString('utf8')
}

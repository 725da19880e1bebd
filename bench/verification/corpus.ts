import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packRecords, readRecords } from './packed-records.ts'

const corpus = 'bench/verification/corpus'

/**
 * Unpacks the labelled data to indented JSON, to read or to change them, and packs them again:
 * `npm run bench:verification:corpus -- unpack <folder>`, `… pack <folder>`.
 */
const [command, folder] = process.argv.slice(2)
if (folder === undefined || (command !== 'pack' && command !== 'unpack')) {
  throw new Error(`got "${command ?? ''}", expected pack <folder> or unpack <folder>`)
}
if (command === 'unpack') unpack(folder)
else pack(folder)

function unpack(target: string): void {
  for (const name of globSync('*/*.jsonl.gz', { cwd: corpus })) {
    const file = join(target, name.replace('.jsonl.gz', '.json'))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(readRecords(join(corpus, name)), null, 2)}\n`)
    console.log(file)
  }
}

function pack(source: string): void {
  for (const name of globSync('*/*.json', { cwd: source })) {
    const file = join(corpus, name.replace('.json', '.jsonl.gz'))
    mkdirSync(dirname(file), { recursive: true })
    const isWritten = packRecords(file, JSON.parse(readFileSync(join(source, name), 'utf8')))
    console.log(`${file}: ${isWritten ? 'written' : 'the same records'}`)
  }
}

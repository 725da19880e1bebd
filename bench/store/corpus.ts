import { glob, readFile } from 'node:fs/promises'

/** Text that rows are cut from, in bytes: larger than ClickHouse's compression block. */
const corpus_bytes_max = 8_000_000

/**
 * Natural prose, tables and code: the documentation of the installed packages. Cuts of it compress
 * like prompts and answers; random words do not.
 */
export async function readCorpus(): Promise<string> {
  const files: string[] = []
  for await (const file of glob('node_modules/**/*.md')) files.push(file)
  let corpus = ''
  for (const file of files.sort()) {
    if (corpus.length >= corpus_bytes_max) break
    const text = await readFile(file, 'utf8').catch(() => '')
    // One byte per character, so that a cut never splits a character.
    corpus += text.replaceAll(/[^\n\x20-\x7e]/g, '')
  }
  return corpus.slice(0, corpus_bytes_max)
}

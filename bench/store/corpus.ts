import { glob, readFile } from 'node:fs/promises'

/** Text that rows are cut from, in bytes: larger than what ClickHouse compresses in one go. */
const corpus_bytes_max = 8_000_000

/**
 * Prose, tables and code as people write them: the documentation of the installed packages. Cuts
 * of it compress as prompts and answers do, which random words don't.
 */
export async function readCorpus(): Promise<string> {
  const files: string[] = []
  for await (const file of glob('node_modules/**/*.md')) files.push(file)
  let corpus = ''
  for (const file of files.sort()) {
    if (corpus.length >= corpus_bytes_max) break
    const text = await readFile(file, 'utf8').catch(() => '')
    // One byte a character, so that a cut never splits one.
    corpus += text.replaceAll(/[^\n\x20-\x7e]/g, '')
  }
  return corpus.slice(0, corpus_bytes_max)
}

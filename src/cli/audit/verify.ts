import { createReadStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ChainFault,
  ChainVerifier,
  type ExportedRecord,
  openCheckpoint,
  readExportedRecord,
  type SignedCheckpoint,
  segmentFault,
} from '../../capabilities/audit/index.ts'
import { readPublicKeys, StatementFault } from '../../capabilities/signing/index.ts'
import { readLines } from '../../kernel/json-lines.ts'
import { printable } from '../../kernel/printable.ts'
import { type Arguments, type CommandIo, exitStatus, UsageError } from '../command.ts'

/** Verifies an exported chain, without a service. */
export async function verifyAudit(args: Arguments, io: CommandIo): Promise<number> {
  const [path = '-'] = args.words
  const [folder, keysPath] = [args.value('checkpoints'), args.value('keys')]
  if (folder === undefined || keysPath === undefined) {
    throw new UsageError('expected --checkpoints and --keys')
  }
  const max_unprotected = readLimit(args.value('max-unprotected'))
  const all = await readCheckpoints(folder, await readText(keysPath))
  const lines = path === '-' ? (await io.stdin()).split('\n') : linesOf(path)
  const found = await verifyLines(lines, { all, chain: args.value('chain') })
  return report(found, io, max_unprotected)
}

/** Returns the number of records that no checkpoint need cover. Throws UsageError. */
function readLimit(text = '0'): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`--max-unprotected: got "${text}", expected a whole number`)
}

type Found = { chain: string; verifier: ChainVerifier; faults: ChainFault[] }

async function verifyLines(
  lines: Iterable<string> | AsyncIterable<string>,
  { all, chain }: { all: readonly SignedCheckpoint[]; chain: string | undefined },
): Promise<Found> {
  let found = chain === undefined ? undefined : open(chain.toLowerCase(), all)
  let number = 0
  for await (const line of lines) {
    number++
    if (line.trim() === '') continue
    const record = toRecord(line, number)
    found ??= open(record.chain_id, all)
    found.verifier.add(record)
    found.faults.push(...faultsOf(record, found.chain))
  }
  if (found === undefined)
    throw new UsageError('the file has no records: name the chain with --chain')
  return found
}

function open(chain: string, all: readonly SignedCheckpoint[]): Found {
  const own = all.filter(({ chain_id }) => chain_id === chain)
  return { chain, verifier: new ChainVerifier(own), faults: [] }
}

function toRecord(line: string, number: number): ExportedRecord {
  const record = readExportedRecord(line)
  if (record !== undefined) return record
  throw new UsageError(
    `line ${number}: expected a line of GET /api/v2/audit/export, without other or repeated fields`,
  )
}

function faultsOf({ reads = [], ...record }: ExportedRecord, chain: string) {
  const { seq, chain_id } = record
  const faults: ChainFault[] = []
  if (chain_id !== chain) {
    faults.push({ kind: 'record_inserted', seq, detail: `the record is of the chain ${chain_id}` })
  }
  const detail = segmentFault(record, reads)
  if (detail !== undefined) faults.push({ kind: 'record_changed', seq, detail })
  return faults
}

function report({ chain, verifier, faults }: Found, io: CommandIo, max_unprotected: number) {
  const { head, records, erased, checkpoints, ...result } = verifier.finish()
  const all = [...faults, ...result.faults]
  for (const { kind, seq, detail } of all) io.out(`${kind} at ${seq}: ${printable(detail)}\n`)
  io.out(
    `chain ${printable(chain)}: ${records} records up to ${head.seq}, ${checkpoints} checkpoints\n`,
  )
  if (erased > 0) io.out(`${erased} details were erased\n`)
  const { protected_seq, protected_at } = result
  if (protected_at === null) io.out('no checkpoint of this chain was given\n')
  else {
    const age = ageText(io.now_ms() - Date.parse(protected_at))
    io.out(`newest checkpoint: record ${protected_seq}, signed ${protected_at} (${age} ago)\n`)
  }
  const open = Math.max(0, head.seq - protected_seq)
  if (open > 0) io.out(`${open} records after the newest checkpoint are not protected\n`)
  const isProven = protected_at !== null && open <= max_unprotected
  io.out(verdict(all.length, isProven))
  return all.length === 0 && isProven ? exitStatus.ok : exitStatus.findings
}

function verdict(faults: number, isProven: boolean): string {
  if (faults > 0) return `not valid: ${faults} faults\n`
  return isProven ? 'valid\n' : 'not proven: a checkpoint must cover the records\n'
}

/** Returns a time in days, hours or minutes, whichever has a whole one. */
function ageText(age_ms: number): string {
  const minutes = Math.floor(age_ms / 60_000)
  if (minutes >= 2 * 24 * 60) return `${Math.floor(minutes / (24 * 60))} days`
  return minutes >= 2 * 60 ? `${Math.floor(minutes / 60)} hours` : `${minutes} minutes`
}

/** Reads all checkpoints below a folder. Throws UsageError for a file that is not a signed one. */
async function readCheckpoints(folder: string, keys: string): Promise<SignedCheckpoint[]> {
  try {
    const known = readPublicKeys(keys)
    const names = await readdir(folder, { recursive: true })
    const files = names.filter((name) => name.endsWith('.json')).map((name) => join(folder, name))
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    return texts.map((text) => openCheckpoint(text, known))
  } catch (error) {
    if (error instanceof StatementFault)
      throw new UsageError(`--checkpoints, --keys: ${error.message}`)
    throw new UsageError(`--checkpoints ${printable(folder)}: the folder cannot be read`)
  }
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => {
    throw new UsageError(`${printable(path)}: the file cannot be read`)
  })
}

async function* linesOf(path: string): AsyncIterable<string> {
  try {
    yield* readLines(createReadStream(path))
  } catch {
    throw new UsageError(`${printable(path)}: the file cannot be read`)
  }
}

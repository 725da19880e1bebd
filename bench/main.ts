import { readFile, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { measureConsole } from './console/part.ts'
import { printInstructions } from './detection/instructions/main.ts'
import { measureDetection } from './detection/part.ts'
import { measureExplorer } from './explorer/part.ts'
import { printGrowth } from './growth/main.ts'
import { printIdle } from './idle/main.ts'
import { measureSignals } from './incidents/part.ts'
import { measureIngest } from './ingest/part.ts'
import { measureOperator } from './operator/part.ts'
import { type Measured, performancePage, type Results } from './page.ts'
import { measureProxy } from './proxy-part.ts'
import { printScale } from './scale/main.ts'
import { printSoak } from './soak/main.ts'
import { unequalAnswers } from './store/facts.ts'
import { measureStore } from './store/part.ts'
import { measureTasks } from './tasks/part.ts'

/**
 * `node bench/main.ts [proxy] [ingest] [store] [detection] [explorer] [operator] [signals] [tasks]
 * [console]`: measures the named parts, or all, and writes the page. ROUNDS=3 gives a quick result
 * that is not kept; MINUTES=10 extends the steady load of the ingest part. ROWS=1000000 fills the store with fewer
 * observations than 10 M (10 GB of disk under TMPDIR), PARTITION_BY compares another partition key,
 * and POLICIES sets the operator's number of policies; their results are not kept either. Ends with
 * status 1 if two ways of querying the store gave different answers.
 *
 * `npm run bench -- detection instructions FILE [--errors]` measures instead how many broken
 * instructions of labelled conversations are found. `npm run bench -- idle` counts the transactions
 * of an idle service, `npm run bench -- scale` measures the ticks of workers by the number of projects,
 * `npm run bench -- growth` what 2 and 4 workers store more than one, and `npm run bench -- soak` prints
 * the memory of each process in an hour under load.
 */
const kept_rounds = 9
const rounds = Number(process.env['ROUNDS'] ?? kept_rounds)
const minutes = Number(process.env['MINUTES'] ?? 1)
const kept_rows = 10_000_000
const rows = Number(process.env['ROWS'] ?? kept_rows)
const partition_by = process.env['PARTITION_BY']
const kept_policies = '1000,10000'
const policies = process.env['POLICIES'] ?? kept_policies
const as_kept =
  rounds >= kept_rounds &&
  rows === kept_rows &&
  partition_by === undefined &&
  policies === kept_policies

const asked = process.argv.slice(2)
const partNames = [
  'proxy',
  'ingest',
  'store',
  'detection',
  'explorer',
  'operator',
  'signals',
  'tasks',
  'console',
]
const results: Results = {}
if (asked[0] === 'detection' && asked[1] === 'instructions') {
  const file = asked[2] ?? 'bench/detection/corpus/instructions/tuning.jsonl.gz'
  printInstructions(file, asked.includes('--errors'))
  process.exit()
}
const printed = { growth: printGrowth, idle: printIdle, scale: printScale, soak: printSoak }[
  asked[0] ?? ''
]
if (printed !== undefined) {
  await printed()
  process.exit()
}
for (const part of asked) if (!partNames.includes(part)) throw new Error(`no part ${part}`)
if (isAsked('proxy')) results.proxy = measured(await measureProxy(rounds))
if (isAsked('ingest')) results.ingest = measured(await measureIngest(rounds, minutes))
if (isAsked('store')) {
  const options = { rounds, rows, ...(partition_by !== undefined && { partition_by }) }
  results.store = measured(await measureStore(options))
}
if (isAsked('detection')) results.detection = measured(measureDetection())
if (isAsked('explorer')) results.explorer = measured(await measureExplorer(rounds))
if (isAsked('operator')) {
  results.operator = measured(await measureOperator(policies.split(',').map(Number)))
}
if (isAsked('signals')) results.signals = measured(await measureSignals(rounds))
if (isAsked('tasks')) results.tasks = measured(await measureTasks(rounds))
if (isAsked('console')) results.console = measured(await measureConsole(rounds))

if (as_kept) {
  for (const [part, result] of Object.entries(results)) {
    await writeFile(fileOf(part), `${JSON.stringify(result, null, 2)}\n`)
  }
}
const known = { ...(await readKeptResults()), ...results }
if (as_kept) await writeFile('docs/reference/performance.md', performancePage(known))
console.log(performancePage(known))
const unequal = results.store === undefined ? [] : unequalAnswers(results.store.facts)
if (unequal.length > 0) {
  console.error(`different answers: ${unequal.join(', ')}`)
  process.exitCode = 1
}
process.exit()

function isAsked(part: string): boolean {
  return asked.length === 0 || asked.includes(part)
}

function measured<Facts>(facts: Facts): Measured<Facts> {
  return {
    machine: `${cpus().length} × ${cpus()[0]?.model ?? '?'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    facts,
  }
}

/** Results of earlier runs. */
async function readKeptResults(): Promise<Results> {
  const found: [string, unknown][] = []
  for (const part of partNames) {
    const text = await readFile(fileOf(part), 'utf8').catch(() => undefined)
    if (text !== undefined) found.push([part, JSON.parse(text)])
  }
  return Object.fromEntries(found)
}

function fileOf(part: string): string {
  return `docs/reference/performance.${part}.json`
}

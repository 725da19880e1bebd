import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkAnswer } from '../../src/capabilities/verification/provenance/check-answer.ts'
import { indexSeen } from '../../src/capabilities/verification/provenance/seen-index.ts'

/**
 * Measures the check of values on labelled runs: `VERIFICATION_CORPUS=<folder> node
 * test/verification/measure-provenance.ts [-v]`. The folder has `runs/*.json`.
 */
type Label = { value: string; start: number; end: number; how?: string; why?: string }
type Run = {
  id: string
  messages: { role: string; name?: string; content: string | null }[]
  answer: string
  flags: Label[]
  ok_values: Label[]
}

const folder = join(process.env['VERIFICATION_CORPUS'] ?? '.', 'runs')
const isVerbose = process.argv.includes('-v')
const runs = readdirSync(folder)
  .sort()
  .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Run[])

const overlaps = (at: readonly [number, number], { start, end }: Label) =>
  at[0] < end && start < at[1]

let clean = 0
let cleanFlagged = 0
let flags = 0
let found = 0
let reported = 0
let right = 0
for (const run of runs) {
  const seen = run.messages
    .filter(({ role, content }) => role !== 'assistant' && content !== null)
    .map(({ name, role, content }, at) => ({
      source: `${at} ${name ?? role}`,
      text: content ?? '',
    }))
  const checked = checkAnswer(run.answer, indexSeen(seen))
  const unsupported = checked.filter(({ verdict }) => verdict === 'unsupported')
  const isClean = run.flags.length === 0
  if (isClean) clean += 1
  if (isClean && unsupported.length > 0) cleanFlagged += 1
  flags += run.flags.length
  for (const flag of run.flags) {
    const hit = unsupported.some(({ at }) => overlaps(at, flag))
    if (hit) found += 1
    else if (isVerbose) {
      const why = checked.filter(({ at }) => overlaps(at, flag))
      console.log(`missed ${run.id} ${flag.value} (${flag.why})`, JSON.stringify(why).slice(0, 400))
    }
  }
  for (const one of unsupported) {
    reported += 1
    if (run.flags.some((flag) => overlaps(one.at, flag))) right += 1
    else if (isVerbose) {
      const how = run.ok_values.find((ok) => overlaps(one.at, ok))?.how
      console.log(
        `wrong ${run.id} ${one.kind} "${one.value}" (${how}) …${run.answer.slice(Math.max(0, one.at[0] - 30), one.at[1] + 15).replaceAll('\n', '⏎')}`,
      )
    }
  }
}
const percent = (part: number, all: number) =>
  `${((100 * part) / all).toFixed(1)} % (${part}/${all})`
console.log(`clean runs flagged: ${percent(cleanFlagged, clean)}`)
console.log(`precision of flags: ${percent(right, reported)}`)
console.log(`recall of flags: ${percent(found, flags)}`)

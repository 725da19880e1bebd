import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../test/corpus/agent-run.ts'
import type { Observation } from '../../../model/observation.ts'
import { detectors } from '../detectors/index.ts'
import { createReconstruction, type TaskRun } from '../reconstruction/index.ts'
import { defaultDetectionSettings } from '../settings/detector-settings.ts'

/**
 * What one more call of a long task costs, without a clock: the characters that regular expressions
 * read, and the units that detectors spend. Texts are read once, so a task of 250 steps reads as
 * many characters for a call as one of 50. Detectors pass over all steps: a few units for each.
 */
describe('one more call of a long task', () => {
  beforeEach(countCharacters)
  afterEach(stopCounting)

  for (const history of ['grows', 'reminders', 'moving', 'days', 'answers'] as const) {
    test(`reads as much after 250 steps as after 50: ${history}`, () => {
      const short = measureCalls(history, 50)
      expect(short.detect_chars).toBeLessThan(detect_chars_max)
      const long = measureCalls(history, 250)
      expect(long.detect_chars).toBeLessThan(short.detect_chars * 2)
      expect(short.units).toBeLessThan(short.calls * units_a_call)
      expect(long.units).toBeLessThan(long.calls * units_a_call)
      // A history that changed in the middle is read once; others are read from their new part on.
      const read_chars_max = history === 'moving' ? long.input_chars : short.take_chars * 2
      expect(long.take_chars).toBeLessThan(read_chars_max)
    })
  }
})

/** A call brings a few hundred characters; each detector reads them a few times. */
const detect_chars_max = 50_000
const units_a_call = 100
const new_calls = 4

type Work = {
  calls: number
  take_chars: number
  detect_chars: number
  units: number
  input_chars: number
}

/** Measures the last calls of a task, each as it arrives: the largest work of one. */
function measureCalls(history: History, steps: number): Work {
  const rows = writeRun(history, steps)
  const reconstruction = createReconstruction({
    ...{ project_id: '', task_id: '', conversation_id: '' },
  })
  reconstruction.add(rows.slice(0, -new_calls))
  detectAll(reconstruction.run())
  const work = rows.slice(-new_calls).map((row): Work => {
    const start_chars = read_chars
    reconstruction.add([row])
    const taken_chars = read_chars
    const units = detectAll(reconstruction.run())
    return {
      calls: rows.length,
      take_chars: taken_chars - start_chars,
      detect_chars: read_chars - taken_chars,
      units,
      input_chars: row.input.length,
    }
  })
  return {
    calls: rows.length,
    take_chars: Math.max(...work.map((one) => one.take_chars)),
    detect_chars: Math.max(...work.map((one) => one.detect_chars)),
    units: Math.max(...work.map((one) => one.units)),
    input_chars: Math.min(...work.map((one) => one.input_chars)),
  }
}

const settings = defaultDetectionSettings()

/** Runs all detectors; returns the units that they spent. */
function detectAll(run: TaskRun): number {
  let spent = 0
  const budget = {
    spend(units: number) {
      spent += units
    },
  }
  for (const detector of detectors) {
    const { enabled: _enabled, ...thresholds } = settings[detector.name] ?? {}
    detector.detect(run, detector.settings.parse(thresholds), budget)
  }
  return spent
}

type History = 'grows' | 'reminders' | 'moving' | 'days' | 'answers'

/** What the client adds before a call. */
const messages: Record<History, (step: number) => string | undefined> = {
  grows: () => undefined,
  reminders: (step) => `Reminder ${step}: the plan has ${step} parts.`,
  moving: (step) => `Reminder ${step}: the plan has ${step} parts.`,
  days: (step) =>
    `Sorry, part ${step} is for the ${1 + (step % 28)}th of June at ${step % 24}:15, ` +
    `not the ${1 + ((step + 3) % 28)}th, for ${step} people.`,
  answers: (step) => `Book part ${step} and mail the invoice of part ${step} to me, please.`,
}

/** Writes a task that books and reads, with instructions that have days, times and values. */
function writeRun(history: History, steps: number): Observation[] {
  const tools = ['read_file', 'book_room', ...(history === 'answers' ? ['mail_invoice'] : [])]
  const rules = 'Answer in English. Never use more than 200 words. Do not call delete_room.'
  return agentRun(`${history} ${steps}`, { tools })
    .system(`You book rooms. ${rules} Always end with "Done.".`)
    .user('Book a room for each part, on 12 June 2026 at 10:00, not the 13th. My order is 4711-22.')
    .times(steps, (run, step) => addStep(history, run, step))
    .observations()
}

function addStep(history: History, run: AgentRun, step: number): AgentRun {
  const message = messages[history](step)
  const asked = message === undefined ? run : run.user(message)
  const args = {
    path: `part-${step}`,
    date: `2026-06-${10 + (step % 20)}`,
    time: `${10 + (step % 12)}:00`,
    people: step % 9,
  }
  const text = `Part ${step} is booked for June ${1 + (step % 28)}. Done.`
  const name = step % 2 === 0 ? 'book_room' : 'read_file'
  const result = `{"ok":true,"part":${step},"text":"part ${step * 31} of the plan is done"}`
  const done = asked.tool({ name, args, text }, result)
  if (history === 'answers') return done.assistant(`The booking of part ${step} is confirmed.`)
  return history === 'moving'
    ? done.edit((all) => all.filter(({ content }) => content !== message))
    : done
}

let read_chars = 0
const exec = RegExp.prototype.exec

/** Counts the characters from where each regular expression starts to where its match ends. */
function countCharacters(): void {
  RegExp.prototype.exec = function countingExec(text: string) {
    const from = this.global ? this.lastIndex : 0
    const match = exec.call(this, text)
    const end = match === null ? `${text}`.length : match.index + match[0].length
    read_chars += this.sticky ? 1 : Math.max(0, end - from)
    return match
  }
}

function stopCounting(): void {
  RegExp.prototype.exec = exec
}

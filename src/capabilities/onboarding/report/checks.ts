import { type CheckId, checkIds } from './check-ids.ts'
import { type Command, type CommandSubject, commandsFor } from './commands.ts'

/**
 * The answer of a store about a check. `done`: the instant at which the check was first done, true
 * if the instant is not known, false if it is missing, `unknown` if the store did not answer in
 * time.
 */
export type Fact = { done: string | boolean | 'unknown'; detail?: string }

/** The facts of a report. */
export type Facts = Record<CheckId, Fact>

/** A check of the report. */
export type Check = {
  id: CheckId
  title: string
  state: 'done' | 'missing' | 'unknown'
  /** Whether an installation needs this check to be useful. */
  required: boolean
  since: string | null
  detail: string
  /** Commands that complete the check; empty for a check that is done. */
  commands: Command[]
}

type Definition = { title: string; required: boolean; done: string; missing: string }

const definitions: Readonly<Record<CheckId, Definition>> = {
  project_key: {
    title: 'A key that can send calls',
    required: true,
    done: 'The project has a live key with the scope proxy:write.',
    missing: 'No live key has the scope proxy:write. Create one.',
  },
  first_call: {
    title: 'A completion through the proxy',
    required: true,
    done: 'A completion was recorded.',
    missing: 'No completion was recorded. Send one through the proxy.',
  },
  first_task: {
    title: 'A named task',
    required: true,
    done: 'A task was recorded that a client named.',
    missing: 'No call named its task. Send X-Task-ID with the calls of a task.',
  },
  first_verdict: {
    title: 'A verdict',
    required: true,
    done: 'A task has a verdict of detection.',
    missing: 'No task has a verdict. Complete a task, or wait until its calls are analysed.',
  },
  first_span: {
    title: 'A span by OTLP',
    required: false,
    done: 'A span was recorded.',
    missing: 'No OTLP span was recorded. Point an exporter at the proxy, or send one span.',
  },
  seeded_scenario: {
    title: 'The seeded reliability scenario',
    required: false,
    done: 'The last run found everything as expected.',
    missing: 'The scenario was not run, or its data were removed. Start it.',
  },
  incident_rule: {
    title: 'A live incident rule',
    required: true,
    done: 'A live rule is evaluated.',
    missing: 'No live rule is evaluated. Create one.',
  },
  notification_channel: {
    title: 'A channel that reaches people',
    required: true,
    done: 'A channel is enabled.',
    missing: 'No channel is enabled, so no incident reaches a person. Create one.',
  },
  ledger_complete: {
    title: 'Nothing lost',
    required: true,
    done: 'No item of the last 24 hours was lost.',
    missing: 'Items of the last 24 hours were lost. Read the ledger.',
  },
  verification: {
    title: 'A verified answer',
    required: false,
    done: 'An answer was verified.',
    missing: 'No answer was verified. Verify the last answer of a task.',
  },
  verification_policy: {
    title: 'Automatic verification',
    required: false,
    done: 'The policy of automatic verification is enabled.',
    missing: 'Automatic verification is off. Enable its policy.',
  },
  feedback: {
    title: 'Feedback of users',
    required: false,
    done: 'Feedback was received.',
    missing: 'No feedback was received. Send what a user thinks of a task.',
  },
  retention_policy: {
    title: 'A retention policy',
    required: false,
    done: 'The project has a retention policy.',
    missing: 'Everything is kept for ever. Set a retention policy.',
  },
  archive: {
    title: 'Archives',
    required: false,
    done: 'Days are archived.',
    missing: 'No day was archived. Archive the days before today.',
  },
}

/** Turns facts into checks. */
export function toChecks(facts: Facts, about: CommandSubject): Check[] {
  return checkIds.map((id) => {
    const { title, required, done, missing } = definitions[id]
    const { done: fact, detail } = facts[id]
    const state = fact === 'unknown' ? 'unknown' : fact === false ? 'missing' : 'done'
    const usual = { done, missing, unknown: 'A store gave no answer in time. Ask again.' }[state]
    return {
      id,
      title,
      state,
      required,
      since: state === 'done' && typeof fact === 'string' ? fact : null,
      detail: detail ?? usual,
      commands: state === 'missing' ? commandsFor(id, about) : [],
    }
  })
}

/** Counts of a report. `ready`: all required checks are done. */
export function summarize(checks: readonly Check[]): {
  ready: boolean
  done: number
  missing: number
  unknown: number
} {
  const count = (state: Check['state']) => checks.filter((check) => check.state === state).length
  return {
    ready: checks.every(({ required, state }) => !required || state === 'done'),
    done: count('done'),
    missing: count('missing'),
    unknown: count('unknown'),
  }
}

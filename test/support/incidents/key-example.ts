import { type Rule, ruleShape } from '../../../src/capabilities/incidents/rules/rule.ts'
import { type Severity, severities } from '../../../src/model/severity.ts'
import type { KeyEntry, KeyHistory, Mark, Message, MoveAnswer, Mute } from './key-history.ts'

/** A history of a dedup key that defines one sentence of the design. */
export type KeyExample = {
  readonly sentence: string
  /** Fields of the rules that share the key, by name. By default one rule `a`. */
  readonly rules?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /**
   * Entries such as `0 a fires`, `3 a fires critical`, `6 a fires high late 2`, `3 a raises critical`, `5 a ends`,
   * `7 acknowledge`, `8 resolve #1 v2`, `9 snooze for 5`; the first word is the minute.
   */
  readonly entries: readonly string[]
  readonly mutes?: readonly Mute[]
  readonly until: number
  /** Changes of incidents, such as `opened#1@0`. */
  readonly marks?: readonly string[]
  /** Messages, such as `opened@0`, with the channels where rules have several. */
  readonly messages?: readonly string[]
  /** HTTP statuses of the moves. */
  readonly answers?: readonly number[]
}

/** Returns the history of an example. Rules are of severity `high` and notify `ops`. */
export function readKeyExample(example: KeyExample): KeyHistory {
  const { rules = { a: {} }, entries, mutes = [], until } = example
  const contributors: Record<string, Rule> = {}
  for (const [name, fields] of Object.entries(rules)) {
    contributors[name] = ruleShape.parse({
      ...{ name, severity: 'high', notify: ['ops'], reopen_within: '0s' },
      condition: { signal: 'cost', window: '10m', threshold: 5 },
      ...fields,
    })
  }
  return { contributors, mutes, until, entries: entries.map((text) => readEntry(text)) }
}

function readEntry(text: string): KeyEntry {
  const [minute, first = '', second = '', third] = text.split(' ')
  const at = Number(minute)
  const severity: Severity = severities.find((name) => name === third) ?? 'high'
  const slot = /late (\d+)$/.exec(text)?.[1]
  if (second === 'fires') {
    const late = slot === undefined ? {} : { slot: Number(slot) }
    return { type: 'fired', at, by: first, severity, ...late }
  }
  if (second === 'raises') return { type: 'raised', at, by: first, severity }
  if (second === 'ends') return { type: 'ended', at, by: first }
  const types = ['acknowledge', 'resolve', 'reopen', 'assign', 'snooze', 'unsnooze'] as const
  const type = types.find((name) => name === first)
  if (type === undefined) throw new Error(`Entry ${JSON.stringify(text)} is unknown.`)
  const incident = /#(\d+)/.exec(text)?.[1]
  const version = /v(\d+)$/.exec(text)?.[1]
  const lasting = /for (\d+)$/.exec(text)?.[1]
  return {
    ...{ type, at },
    ...(incident === undefined ? {} : { incident: Number(incident) }),
    ...(version === undefined ? {} : { version: Number(version) }),
    ...(lasting === undefined ? {} : { minutes: Number(lasting) }),
  }
}

/** Names a change as examples do. */
export function nameMark({ type, incident, at }: Mark): string {
  return `${type}#${incident}@${at}`
}

/** Names a message as examples do. */
export function nameMessage({ type, at, channels }: Message): string {
  return channels.join() === 'ops' ? `${type}@${at}` : `${type}@${at}:${channels.join()}`
}

/** Returns the status of an answer. */
export function statusOf({ status }: MoveAnswer): number {
  return status
}

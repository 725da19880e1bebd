import type { Message } from '../messages/message.ts'

/** Converts a value for the text of a receiver, so that it is neither markup nor a mention. */
export type Escape = (value: string) => string

/** Placeholders that are single words. */
export const placeholders = [
  ...(['title', 'number', 'severity', 'state', 'reason', 'rule', 'signal', 'group'] as const),
  ...(['value', 'summary', 'note', 'assignee', 'runbook_url', 'opened_at', 'at'] as const),
  ...(['incident_id', 'project_id'] as const),
] as const

/** Placeholders with the name of an entry: `{{labels.team}}`. */
const maps = ['labels', 'group', 'annotations'] as const

const pattern = /\{\{ *([a-z_]+(?:\.[a-z][a-z0-9_]{0,62})?) *\}\}/g

const value_characters_max = 1000

/** Returns why a template is refused; undefined for a valid one. */
export function templateFault(text: string): string | undefined {
  const rest = text.replaceAll(pattern, (match, path: string) => (isKnown(path) ? '' : match))
  if (!rest.includes('{{')) return undefined
  const names = [...placeholders, ...maps.map((map) => `${map}.x`)]
  return `expected no {{ except in the placeholders ${names.map((one) => `{{${one}}}`).join(', ')}`
}

/** Replaces the placeholders of a template. Their values come from payloads and are escaped. */
export function fillTemplate(text: string, message: Message, escaped: Escape): string {
  const values = valuesOf(message)
  return text.replaceAll(pattern, (_match, path: string) => {
    const value = values(path).slice(0, value_characters_max)
    return path === 'runbook_url' ? escaped(value) : escaped(withoutLinks(value))
  })
}

function isKnown(path: string): boolean {
  const [word = '', entry] = path.split('.')
  if (entry === undefined) return placeholders.some((one) => one === word)
  return maps.some((map) => map === word)
}

function valuesOf({ incident, reason, note, at }: Message): (path: string) => string {
  const { annotations } = incident
  const words: Readonly<Record<(typeof placeholders)[number], string>> = {
    title: incident.title,
    number: String(incident.number),
    severity: incident.severity,
    state: incident.state,
    reason: reasonTexts[reason],
    rule: incident.rule,
    signal: incident.signal,
    group: groupText(incident.group),
    value: valueText(incident.evidence),
    summary: annotations['summary'] ?? annotations['description'] ?? '',
    note: note ?? '',
    assignee: incident.assignee ?? '',
    runbook_url: incident.runbook_url ?? '',
    opened_at: minuteOf(incident.opened_at),
    at: minuteOf(at),
    incident_id: incident.incident_id,
    project_id: incident.project_id,
  }
  return (path) => {
    const [word = '', entry] = path.split('.')
    if (entry === undefined) return words[word as keyof typeof words] ?? ''
    const map = incident[word as (typeof maps)[number]]
    return Object.hasOwn(map, entry) ? (map[entry] ?? '') : ''
  }
}

/** Texts of the reasons. */
export const reasonTexts: Readonly<Record<Message['reason'], string>> = {
  opened: 'Opened',
  flapping: 'Flapping: opened again and again; no further messages until it is quiet',
  raised: 'Severity raised',
  reopened: 'Reopened',
  reminder: 'Still open',
  escalated: 'Escalated: not acknowledged in time',
  ack_timed_out: 'Open again: acknowledged, but not resolved in time',
  resolved: 'Resolved',
  still_firing: 'Still firing',
  opened_and_resolved: 'Opened and resolved: no message said that it was open',
}

function groupText(group: Readonly<Record<string, string>>): string {
  return Object.entries(group)
    .map(([dimension, value]) => `${dimension} = ${value === '' ? '(none)' : value}`)
    .join(', ')
}

/** Returns the newest measured value, at most four significant digits below 10,000. */
function valueText(evidence: Message['incident']['evidence']): string {
  const newest = evidence.findLast(({ kind, value }) => kind === 'value' && value != null)
  const value = newest?.value
  if (value == null) return ''
  return String(Math.abs(value) >= 10_000 ? Math.round(value) : Number(value.toPrecision(4)))
}

function minuteOf(instant: string): string {
  return `${instant.slice(0, 16).replace('T', ' ')} UTC`
}

/**
 * Makes a value of a payload one line of plain text. A word joiner keeps receivers from turning
 * `https://…` of a payload into a link.
 */
function withoutLinks(value: string): string {
  return value
    .replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, ' ')
    .replaceAll('://', ':\u2060//')
    .toWellFormed()
}

import type { Evidence } from '../incident-view.ts'
import { isEnd, type Message } from '../messages/message.ts'
import { withUnit } from '../rules/limit-text.ts'

/** Converts a value for the text of a receiver, so that it is neither markup nor a mention. */
export type Escape = ((value: string) => string) & {
  /** Converts a URL of the service or of a rule, so that it is a link, with a text if it has one. */
  readonly link?: (url: string, text?: string) => string
}

/** Placeholders that are single words. */
const placeholders = [
  ...(['title', 'number', 'severity', 'state', 'reason', 'rule', 'signal', 'group'] as const),
  ...(['value', 'summary', 'note', 'assignee', 'runbook_url', 'opened_at', 'at'] as const),
  ...(['incident_id', 'project_id', 'evidence', 'threshold', 'task', 'trace', 'step'] as const),
  ...(['link', 'task_link', 'trace_link', 'ack_link', 'resolve_link', 'snooze_link'] as const),
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
    if (value === '' || !urls.has(path)) return escaped(withoutLinks(value))
    return escaped.link?.(value, linkTexts[path]) ?? escaped(value)
  })
}

/** Placeholders whose values are URLs that a rule's author or this installation chose. */
const urls: ReadonlySet<string> = new Set([
  ...['runbook_url', 'link', 'task_link', 'trace_link'],
  ...['ack_link', 'resolve_link', 'snooze_link'],
])

/** Texts of the links that answer an incident. Their URLs are long. */
const linkTexts: Readonly<Record<string, string>> = {
  ack_link: 'Acknowledge',
  resolve_link: 'Resolve',
  snooze_link: 'Silence this',
}

function isKnown(path: string): boolean {
  const [word = '', entry] = path.split('.')
  if (entry === undefined) return placeholders.some((one) => one === word)
  return maps.some((map) => map === word)
}

function valuesOf(message: Message): (path: string) => string {
  const { incident, reason, note, at, details, links } = message
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
    value: valueText(message),
    summary: annotations['summary'] ?? annotations['description'] ?? '',
    note: note ?? '',
    assignee: incident.assignee ?? '',
    runbook_url: incident.runbook_url ?? '',
    opened_at: minuteOf(incident.opened_at),
    at: minuteOf(at),
    incident_id: incident.incident_id,
    project_id: incident.project_id,
    evidence: evidenceText(message),
    threshold: details?.limit ?? '',
    task: details?.task_id ?? '',
    trace: details?.trace_id ?? '',
    step: details?.step == null ? '' : String(details.step + 1),
    link: links?.incident ?? '',
    task_link: links?.task ?? '',
    trace_link: links?.trace ?? '',
    ack_link: links?.ack ?? '',
    resolve_link: links?.resolve ?? '',
    snooze_link: links?.snooze ?? '',
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

/**
 * Returns the measured value: of the end, for an end by the rule, else the newest one; at most four
 * significant digits below 10,000.
 */
function valueText({ reason, incident: { evidence, resolved_at } }: Message): string {
  const measured = evidence.filter(({ kind }) => kind === 'value')
  const last = measured.at(-1)
  if (isEnd(reason) && last?.at === resolved_at && last?.value == null) return 'no data'
  const value = measured.findLast((one) => one.value != null)?.value
  if (value == null) return ''
  return String(Math.abs(value) >= 10_000 ? Math.round(value) : Number(value.toPrecision(4)))
}

/**
 * Returns what happened, in a sentence: that of the newest finding, or the value of the signal. The
 * limit is beside it.
 */
function evidenceText(message: Message): string {
  const { incident, details, reason } = message
  const found = incident.evidence.filter(({ kind }) => kind !== 'value')
  const newest = found.at(-1)
  if (newest !== undefined) {
    const more = found.length === 1 ? '' : ` (and ${found.length - 1} more)`
    return `${sentenceOf(newest)}${more}`
  }
  const value = valueText(message)
  if (value === '') return ''
  const last = incident.evidence.at(-1)
  const isOfEnd = isEnd(reason) && last?.at === incident.resolved_at
  const unit = value === 'no data' ? '' : (details?.unit ?? '')
  return `${incident.signal} is ${withUnit(value, unit)}${isOfEnd ? ' at the end' : ''}`
}

/** Returns the sentence of evidence, or its type. */
export function sentenceOf({ summary, type, kind }: Evidence): string {
  return summary ?? type ?? kind
}

function minuteOf(instant: string): string {
  return `${instant.slice(0, 16).replace('T', ' ')} UTC`
}

/**
 * Makes a value of a payload one line of plain text. A word joiner keeps receivers from turning
 * `https://…` of a payload into a link.
 */
export function withoutLinks(value: string): string {
  return value
    .replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, ' ')
    .replaceAll('://', ':\u2060//')
    .toWellFormed()
}

import type { Notice } from '../../capabilities/incidents/life-cycle/index.ts'
import type { Group } from '../../capabilities/incidents/rules/index.ts'
import type { Severity } from '../../model/severity.ts'

/** Something that happened in a test. */
export type TimelineEntry = {
  /** Time of the evaluation or of the move. */
  at_ms: number
  /** Type of the event of the incident, or `restart` or `gap`. */
  text: string
  /** Time of the event; that of the slot, for rules that are evaluated at slots. */
  slot_ms?: number
  rule?: string
  group?: Group
  /** Number of the incident in the test, from 1. */
  number?: number
  dedup_key?: string
  severity?: Severity
  notices?: readonly Notice[]
}

/** Formats a time since the start of a test: `1h5m`. */
export function formatTime(ms: number): string {
  const sign = ms < 0 ? '-' : ''
  const seconds = Math.round(Math.abs(ms) / 1000)
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const
  const text = parts.map(([count, unit]) => (count === 0 ? '' : `${count}${unit}`)).join('')
  return text === '' ? '0m' : `${sign}${text}`
}

/** Formats a group as the labels of a series: `{task_name="checkout"}`; empty without dimensions. */
export function formatGroup(group: Group): string {
  const labels = Object.entries(group).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return labels.length === 0 ? '' : `{${labels.join(',')}}`
}

/** Formats an entry: `6m (slot 5m) ttft{task_name="a"} #1 opened high, opened → pager`. */
export function formatEntry(entry: TimelineEntry, start_ms: number): string {
  const { at_ms, slot_ms, rule, group = {}, number, text, severity, notices = [] } = entry
  const isLater = slot_ms !== undefined && slot_ms !== at_ms
  const words = [
    formatTime(at_ms - start_ms),
    isLater ? `(slot ${formatTime(slot_ms - start_ms)})` : '',
    rule === undefined ? '' : `${rule}${formatGroup(group)}`,
    number === undefined ? '' : `#${number}`,
    text,
    severity ?? '',
  ]
  const messages = notices.map(({ reason, channels }) => `${reason} → ${channels.join(', ')}`)
  const line = words.filter((word) => word !== '').join(' ')
  return messages.length === 0 ? line : `${line}; message ${messages.join('; ')}`
}

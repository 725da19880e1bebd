import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useProjectId } from '../../session/project.ts'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatShare,
  formatUsd,
} from '../../ui/format.ts'
import { Severity, State, Time } from '../../ui/parts.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { numberOf } from './chart-rows.ts'
import css from './query.module.css'

const characters_max = 160

/** The screen that an id leads to, by the name of its column. */
const screens: Record<string, string> = {
  trace_id: 'traces',
  linked_trace_id: 'traces',
  task_id: 'tasks',
  conversation_id: 'conversations',
}

/** Returns whether a column is shown on the right, like numbers. */
export function isNumeric(type: string): boolean {
  return type === 'integer' || type === 'decimal' || type === 'float'
}

/** Formats a number by the unit at the end of its column's name. */
export function formatNumber(name: string, value: number): string {
  if (/usd(_|$)|cost/.test(name)) return formatUsd(String(value))
  if (/_ms$|duration/.test(name)) return formatDuration(value)
  if (/bytes/.test(name)) return formatBytes(value)
  if (/error_rate|share/.test(name)) return formatShare(value)
  return Number.isInteger(value)
    ? formatCount(value)
    : value.toLocaleString('en', { maximumSignificantDigits: 4 })
}

/** One value of a row. Ids lead to their screens; long texts are cut. */
export function Cell({ name, type, value }: { name: string; type: string; value: unknown }) {
  const project_id = useProjectId()
  if (value === null || value === undefined || value === '') {
    return <span className={ui.soft}>–</span>
  }
  const screen = screens[name]
  if (screen !== undefined && typeof value === 'string') {
    const to = `/p/${project_id}/${screen}/${encodeURIComponent(value)}`
    return (
      <Link to={to as '/'} className={css.cell} title={value}>
        <Plain>{shortId(value)}</Plain>
      </Link>
    )
  }
  return <span className={css.cell}>{valueCell(name, type, value)}</span>
}

function valueCell(name: string, type: string, value: unknown): ReactNode {
  if (isNumeric(type)) {
    const number = numberOf(value)
    if (number !== null) return formatNumber(name, number)
  }
  if (type === 'time' && typeof value === 'string') return <Time at={value} />
  if (type === 'bool') return value === true ? 'yes' : 'no'
  if (typeof value === 'object')
    return <Plain>{shortened(JSON.stringify(value), characters_max)}</Plain>
  const text = String(value)
  if (name === 'severity') return <Severity of={text} />
  if ((name === 'status' || name === 'state') && text.length < 20) return <State of={text} />
  return <Plain>{shortened(text, characters_max)}</Plain>
}

/** Returns a UUID without its middle: the beginnings of ids of one time are equal. */
function shortId(id: string): string {
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(id) ? `${id.slice(0, 8)}…${id.slice(-6)}` : id
}

function shortened(text: string, length_max: number): string {
  return text.length > length_max ? `${text.slice(0, length_max)}…` : text
}

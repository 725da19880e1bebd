import type { Incident } from '../../api/schema.gen.d.ts'
import { Badge } from '../../ui/parts.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'

/** The group of an incident: `model = gpt-large, environment = production`. */
export function Group({ of }: { of: Readonly<Record<string, string>> }) {
  const entries = Object.entries(of)
  if (entries.length === 0) return null
  return (
    <span className={ui.soft}>
      {entries.map(([name, value], at) => (
        <span key={name}>
          {at > 0 && ', '}
          {name.replaceAll('_', ' ')} = <Plain>{value === '' ? '(none)' : value}</Plain>
        </span>
      ))}
    </span>
  )
}

type Marked = Pick<
  Incident,
  'suppressed' | 'snoozed_until' | 'inhibited_by' | 'flapping' | 'late' | 'orphaned' | 'shadow'
>

/** Marks beside the state: why an incident is quiet, or is not what it seems. */
export function Marks({ of }: { of: Marked }) {
  return (
    <>
      {of.snoozed_until !== null && <Badge tone="info">snoozed</Badge>}
      {of.suppressed && of.snoozed_until === null && <Badge tone="info">muted</Badge>}
      {of.inhibited_by.length > 0 && <Badge>inhibited</Badge>}
      {of.flapping && <Badge tone="warn">flapping</Badge>}
      {of.late && <Badge>late data</Badge>}
      {of.orphaned && <Badge tone="warn">rule changed</Badge>}
      {of.shadow && <Badge>shadow</Badge>}
    </>
  )
}

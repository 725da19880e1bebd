import type { IncidentRulePreview } from '../../api/schema.gen.d.ts'
import { formatCount } from '../../ui/format.ts'
import { Badge, Severity, Time } from '../../ui/parts.tsx'
import { Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { groupName } from './preview-series.ts'

const rows_max = 100
const tones = { fired: 'bad', raised: 'bad', ended: 'good', forgotten: undefined } as const

/** The changes of groups that a backtest found. */
export function Transitions({ of }: { of: IncidentRulePreview }) {
  const rows = of.transitions
    .slice(0, rows_max)
    .map((each, index) => ({ ...each, key: `${index}` }))
  if (rows.length === 0) return <p>It would not have fired.</p>
  return (
    <>
      <h3>Changes</h3>
      <Table
        label="Changes"
        rows={rows}
        keyOf={({ key }) => key}
        columns={[
          { id: 'at', head: 'At', cell: ({ at }) => <Time at={at} /> },
          { id: 'group', head: 'Group', cell: ({ group }) => <Plain>{groupName(group)}</Plain> },
          {
            id: 'type',
            head: 'Change',
            cell: ({ type }) => <Badge tone={tones[type]}>{type}</Badge>,
          },
          {
            id: 'severity',
            head: 'Severity',
            cell: ({ severity }) => (severity === null ? '–' : <Severity of={severity} />),
          },
        ]}
      />
      {of.transitions_total > rows.length && (
        <p className={ui.soft}>
          {formatCount(of.transitions_total - rows.length)} more are not shown.
        </p>
      )}
    </>
  )
}

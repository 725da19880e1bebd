import type { ReleaseCertification } from '../../api/schema.gen.d.ts'
import { formatCount } from '../../ui/format.ts'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { explainCode, formatMetric, limitOf } from './texts.ts'
import { Verdict } from './verdict.tsx'

export type Gate = ReleaseCertification['gates'][number]

/** The gates of a certification, with what was measured and why one did not pass. */
export function GatesTable({ gates }: { gates: readonly Gate[] }) {
  const rows = gates.map((gate, at) => ({ ...gate, at }))
  return <Table label="Gates" columns={columns} rows={rows} keyOf={({ at }) => String(at)} />
}

/** Formats the estimate of a gate with its interval. */
export function estimateOf({ metric, estimate, interval }: Gate): string {
  if (estimate === null) return 'no value'
  const value = formatMetric(metric, estimate)
  const [low, high] = interval ?? []
  if (low === undefined || high === undefined) return value
  return `${value} (${formatMetric(metric, low)} to ${formatMetric(metric, high)})`
}

const columns: Column<Gate & { at: number }>[] = [
  {
    id: 'metric',
    head: 'Gate',
    cell: ({ metric, kind, group }) => (
      <>
        {metric.replaceAll('_', ' ')}
        <div className={ui.soft}>
          {kind.replaceAll('_', ' ')}
          {group !== null && (
            <>
              {': '}
              <Plain>{group}</Plain>
            </>
          )}
        </div>
      </>
    ),
  },
  { id: 'tier', head: 'Tier', wide: true, cell: ({ tier }) => tier },
  { id: 'verdict', head: 'Verdict', cell: ({ verdict }) => <Verdict of={verdict} /> },
  { id: 'limit', head: 'Limit', number: true, cell: limitOf },
  { id: 'estimate', head: 'Measured', number: true, cell: estimateOf },
  { id: 'n', head: 'Samples', number: true, wide: true, cell: ({ n }) => formatCount(n) },
  {
    id: 'clusters',
    head: 'Users',
    number: true,
    wide: true,
    cell: ({ clusters }) => formatCount(clusters),
  },
  {
    id: 'why',
    head: 'Why',
    cell: ({ reason, warnings }) => (
      <>
        {reason !== null && <p>{explainCode(reason)}</p>}
        {warnings.map((warning) => (
          <p key={warning} className={ui.soft}>
            {explainCode(warning)}
          </p>
        ))}
      </>
    ),
  },
]

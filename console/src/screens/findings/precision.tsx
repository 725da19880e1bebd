import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import type { DetectorPrecision } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../session/project.ts'
import { formatCount, formatShare } from '../../ui/format.ts'
import { Badge } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { type FindingsFilter, windowOf } from './findings-query.ts'

/** How often reviewers agree with each detector. */
export function Precision({ filter }: { filter: FindingsFilter }) {
  const project_id = useProjectId()
  const precision = api.useQuery('get', '/api/v1/feedback/detector-precision', {
    params: { query: windowOf(filter) },
  })
  return (
    <Loaded query={precision} what="Reading the precision">
      {({ detectors, note, reviewed_min }) => (
        <div className={ui.stack}>
          <Table
            label="Precision by detector"
            rows={detectors}
            columns={columns(reviewed_min)}
            keyOf={({ detector, type }) => `${detector} ${type}`}
            empty={
              <Empty title="No finding was reviewed in this range">
                <p>Reviewers say whether a finding is right; the precision follows from it.</p>
                <Link to="/p/$project_id/review" params={{ project_id }}>
                  Open the review queue
                </Link>
              </Empty>
            }
          />
          <p className={ui.soft}>{note}</p>
        </div>
      )}
    </Loaded>
  )
}

const columns = (reviewed_min: number): Column<DetectorPrecision>[] => [
  { id: 'detector', head: 'Detector', cell: ({ detector }) => <Plain>{detector}</Plain> },
  { id: 'type', head: 'Type', wide: true, cell: ({ type }) => <Plain>{type}</Plain> },
  {
    id: 'precision',
    head: 'Right',
    number: true,
    cell: ({ precision, too_few }) =>
      precision === null ? (
        '–'
      ) : (
        <>
          {formatShare(precision)}{' '}
          {too_few && <Badge tone="warn">fewer than {formatCount(reviewed_min)} reviewed</Badge>}
        </>
      ),
  },
  {
    id: 'interval',
    head: 'Range (95 %)',
    number: true,
    wide: true,
    cell: ({ interval }) => {
      const [low, high] = interval ?? []
      if (low === undefined || high === undefined) return '–'
      return `${formatShare(low)} to ${formatShare(high)}`
    },
  },
  { id: 'reviewed', head: 'Reviewed', number: true, cell: (row) => formatCount(row.reviewed) },
  {
    id: 'disputed',
    head: 'Disputed',
    number: true,
    wide: true,
    cell: (row) => formatCount(row.disputed),
  },
]

import { api } from '../../api/client.ts'
import type { DetectorPrecisionList, ReviewAgreement } from '../../api/schema.gen.d.ts'
import { formatCount, formatShare } from '../../ui/format.ts'
import { Actor } from '../../ui/job.tsx'
import { Heading, Tile } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { Queue } from './queue.tsx'
import { Rate } from './source.tsx'

/** The review queue: tasks whose labels are most useful, and how far reviewers agree. */
export function Review() {
  return (
    <div className={ui.stack}>
      <Heading title="Review" />
      <Tabs
        label="Review"
        tabs={[
          { id: 'queue', title: 'Queue', render: () => <Queue /> },
          { id: 'agreement', title: 'Agreement and precision', render: () => <Agreement /> },
        ]}
      />
    </div>
  )
}

/** How far reviewers agree, and how often each detector is right by their verdicts. */
function Agreement() {
  const agreement = api.useQuery('get', '/api/v1/feedback/review/agreement')
  const precision = api.useQuery('get', '/api/v1/feedback/detector-precision')
  return (
    <div className={ui.stack}>
      <h2>Agreement of reviewers, last 30 days</h2>
      <Loaded query={agreement} what="Comparing labels">
        {({ labels, all, pairs }) => (
          <>
            <div className={ui.tiles}>
              <Tile name="Labels">{formatCount(labels)}</Tile>
              <Tile name="Tasks with two labels">{formatCount(all.tasks)}</Tile>
              <Tile name="Equal labels">{share(all.observed)}</Tile>
              <Tile name="Fleiss’ κ">{kappa(all.kappa)}</Tile>
            </div>
            <Table
              label="Pairs of reviewers"
              columns={pairColumns}
              rows={pairs}
              keyOf={({ reviewers }) => reviewers.join(' ')}
              empty={
                <Empty title="No two reviewers labelled the same task">
                  <p>Set “Reviewers per task” of the queue to 2.</p>
                </Empty>
              }
            />
          </>
        )}
      </Loaded>
      <h2>Precision of detectors</h2>
      <Loaded query={precision} what="Reading the precision">
        {({ detectors, reviewed_min, note }) => (
          <>
            <p className={ui.soft}>
              {note} A detector with fewer than {reviewed_min} reviewed findings has no precision.
            </p>
            <Table
              label="Detectors"
              columns={detectorColumns}
              rows={detectors}
              keyOf={({ detector, type }) => `${detector} ${type}`}
              empty={<Empty title="No finding is reviewed" />}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

const share = (value: number | null) => (value === null ? 'none' : formatShare(value))
const kappa = (value: number | null) => (value === null ? 'none' : value.toFixed(2))

const pairColumns: Column<ReviewAgreement['pairs'][number]>[] = [
  {
    id: 'reviewers',
    head: 'Reviewers',
    cell: ({ reviewers }) => reviewers.map((each) => <div key={each}>{<Actor of={each} />}</div>),
  },
  { id: 'tasks', head: 'Tasks', number: true, cell: ({ tasks }) => formatCount(tasks) },
  { id: 'observed', head: 'Equal', number: true, cell: ({ observed }) => share(observed) },
  {
    id: 'expected',
    head: 'By chance',
    number: true,
    wide: true,
    cell: ({ expected }) => share(expected),
  },
  { id: 'kappa', head: 'Cohen’s κ', number: true, cell: (row) => kappa(row.kappa) },
]

const detectorColumns: Column<DetectorPrecisionList['detectors'][number]>[] = [
  { id: 'detector', head: 'Detector', cell: ({ detector }) => <Plain>{detector}</Plain> },
  { id: 'type', head: 'Type', cell: ({ type }) => <Plain>{type}</Plain> },
  { id: 'reviewed', head: 'Reviewed', number: true, cell: ({ reviewed }) => formatCount(reviewed) },
  { id: 'right', head: 'Right', number: true, cell: ({ right }) => formatCount(right) },
  {
    id: 'disputed',
    head: 'Disputed',
    number: true,
    wide: true,
    cell: ({ disputed }) => formatCount(disputed),
  },
  {
    id: 'precision',
    head: 'Precision',
    cell: ({ precision, interval, too_few }) =>
      too_few ? 'too few reviewed' : <Rate rate={precision} interval={interval} />,
  },
]

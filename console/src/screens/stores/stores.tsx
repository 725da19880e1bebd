import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import type { QueryExplanation } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { Badge, Facts, Heading } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { Benchmarks } from './benchmarks.tsx'
import { Routing } from './routing.tsx'
import { Scorecard } from './scorecard.tsx'
import { storeName } from './store-name.ts'

/** Which store answers what: the settings, their reasons, and measurements. */
export function Stores() {
  return (
    <div className={ui.stack}>
      <Heading title="Stores" />
      <Tabs
        label="Stores"
        tabs={[
          { id: 'routing', title: 'Routing', render: () => <Routing /> },
          { id: 'explain', title: 'Explain', render: () => <Explain /> },
          { id: 'scorecard', title: 'Scorecard', render: () => <Scorecard /> },
          { id: 'benchmarks', title: 'Benchmarks', render: () => <Benchmarks /> },
        ]}
      />
    </div>
  )
}

/** Reads that people can explain here, by name. */
const examples = {
  'list-hour': { title: 'A page of observations of the last hour', hours: 1, isSum: false },
  'list-week': { title: 'A page of observations of the last 7 days', hours: 168, isSum: false },
  'sum-day': { title: 'The number of observations of the last day', hours: 24, isSum: true },
  'sum-month': { title: 'The number of observations of the last 30 days', hours: 720, isSum: true },
} as const
type Example = keyof typeof examples

function isExample(name: string | undefined): name is Example {
  return name !== undefined && name in examples
}

/** Asks the API which store would answer a read, and why. */
async function explain(name: Example, signal: AbortSignal) {
  const { hours, isSum } = examples[name]
  const now_ms = Math.floor(serverNow() / 60_000) * 60_000
  const shared = {
    entity: 'observations' as const,
    window: {
      from: new Date(now_ms - hours * 3_600_000).toISOString(),
      to: new Date(now_ms).toISOString(),
    },
    allow_wide: true,
    include_restored: false,
    limit: 50,
  }
  const body = isSum
    ? { ...shared, measures: [{ fn: 'count' as const, as: 'rows' }], fill: false }
    : shared
  const { data } = await call.POST('/api/v2/observability/query/explain', { body, signal })
  if (data === undefined) throw new Error('The server sent an empty reply')
  return data
}

/** Which store would answer a read now, and why. The page Query explains any query. */
function Explain() {
  const project_id = useProjectId()
  const [search, change] = useUrlState()
  const name = isExample(search['read']) ? search['read'] : 'list-hour'
  const query = useQuery({
    queryKey: ['explain-read', project_id, name],
    queryFn: ({ signal }) => explain(name, signal),
  })
  return (
    <div className={ui.stack}>
      <label className={ui.row}>
        Read
        <select value={name} onChange={(event) => change({ read: event.target.value })}>
          {Object.entries(examples).map(([id, { title }]) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <Loaded query={query} what="Explaining">
        {(explanation) => <Explanation of={explanation} />}
      </Loaded>
    </div>
  )
}

function Explanation({ of }: { of: QueryExplanation }) {
  const { store, estimate } = of
  return (
    <>
      <h2>{storeName(store.chosen)} answers</h2>
      <Table
        label="Stores"
        rows={store.candidates}
        keyOf={(each) => each.store}
        columns={[
          { id: 'store', head: 'Store', cell: (each) => storeName(each.store) },
          {
            id: 'can',
            head: 'Can answer',
            cell: ({ eligible }) => (
              <Badge tone={eligible ? 'good' : 'warn'}>{eligible ? 'yes' : 'no'}</Badge>
            ),
          },
          { id: 'why', head: 'Why', cell: ({ reason }) => <Plain>{reason}</Plain> },
        ]}
      />
      <Facts
        of={[
          ['Kind of read', of.query_class],
          ['If it fails', store.fallback ? 'the other store is asked' : 'the answer is 503'],
          ['Rows to read', estimate.rows !== null ? `about ${formatCount(estimate.rows)}` : null],
          ['Bytes to read', estimate.bytes !== null ? formatBytes(estimate.bytes) : null],
          ['No estimate', estimate.reason],
        ]}
      />
      {of.warnings.map(({ code, detail }) => (
        <p key={code} className={ui.notice}>
          <Plain>{detail}</Plain>
        </p>
      ))}
      <h3>Statement</h3>
      <div className={ui.box}>
        <LongText text={of.statement.text} mono />
      </div>
    </>
  )
}

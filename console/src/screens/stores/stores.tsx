import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import type { QueryExplanation, RouteStatsReply, StoreScorecard } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { formatBytes, formatCount, formatDuration, formatShare } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { Meter } from '../../ui/meter.tsx'
import { Badge, Button, Facts, Heading, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Benchmarks } from './benchmarks.tsx'
import { ratioText } from './ratio.ts'
import { Routing } from './routing.tsx'
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

type Workload = StoreScorecard['workloads'][number]

/** The recommended store for each kind of read, with its evidence, and the live statistics. */
function Scorecard() {
  const query = api.useQuery('get', '/api/v2/observability/store-selection/scorecard')
  const stats = api.useQuery('get', '/api/v2/observability/query/route-stats')
  return (
    <div className={ui.stack}>
      <Loaded query={query} what="Reading the scorecard">
        {(scorecard) => (
          <>
            <p>
              {scorecard.benchmark === null ? (
                <>
                  There is no benchmark yet.{' '}
                  <HereLink change={{ tab: 'benchmarks' }}>Run one</HereLink>
                </>
              ) : (
                <>
                  From the benchmark of <Time at={scorecard.benchmark.ended_at} /> and the reads
                  since <Time at={scorecard.live_since} />.
                </>
              )}
            </p>
            <Table
              label="Recommendations"
              columns={workloadColumns}
              rows={scorecard.workloads}
              keyOf={({ query_class }) => query_class}
            />
            <ApplyScorecard of={scorecard} />
          </>
        )}
      </Loaded>
      <h2>Reads of the project</h2>
      <Loaded query={stats} what="Reading the statistics">
        {({ routes }) => (
          <Table
            label="Reads by kind and store"
            columns={statColumns}
            rows={routes}
            keyOf={({ query_class, store }) => `${query_class} ${store}`}
            empty={<Empty title="No reads yet" />}
          />
        )}
      </Loaded>
    </div>
  )
}

function ApplyScorecard({ of: { workloads } }: { of: StoreScorecard }) {
  const client = useQueryClient()
  const isAdmin = useHasRole('admin')
  const routing = api.useQuery('get', '/api/v2/observability/store-routing')
  const apply = api.useMutation('put', '/api/v2/observability/store-routing', {
    onSuccess: async () => {
      notify('The recommended routes are set.')
      await client.invalidateQueries({ queryKey: ['get', '/api/v2/observability/store-routing'] })
    },
    onError: notifyFault,
  })
  const chosen = workloads.filter(({ recommended }) => recommended !== null)
  const { data } = routing
  const isOff = !isAdmin || chosen.length === 0 || data === undefined || apply.isPending
  return (
    <div className={ui.row}>
      <Button
        disabled={isOff}
        onClick={() => {
          if (data === undefined) return
          const params = { header: { 'If-Match': `"${data.version}"` } }
          apply.mutate({ params, body: { apply_scorecard: true } })
        }}
      >
        Use the recommended stores
      </Button>
      <span className={ui.soft}>
        {chosen.length === 0 ? 'Nothing is recommended yet.' : 'Only the routes change.'}
      </span>
    </div>
  )
}

const workloadColumns: Column<Workload>[] = [
  { id: 'class', head: 'Read', cell: ({ query_class }) => query_class },
  {
    id: 'recommended',
    head: 'Recommended',
    cell: ({ recommended }) =>
      recommended === null ? 'not enough evidence' : storeName(recommended),
  },
  {
    id: 'confidence',
    head: 'Confidence',
    cell: ({ confidence }) => (
      <>
        {formatShare(confidence)} <Meter share={confidence} />
      </>
    ),
  },
  { id: 'ratio', head: 'Benchmark', cell: ({ benchmark }) => ratioText(benchmark.ratio) },
  {
    id: 'cases',
    head: 'Queries',
    number: true,
    wide: true,
    cell: ({ benchmark: { cases, unequal } }) =>
      unequal > 0 ? `${cases}, ${unequal} with different rows` : cases,
  },
  { id: 'why', head: 'Why', wide: true, cell: ({ reason }) => <Plain>{reason}</Plain> },
]

const ms = (value: number | null) => (value === null ? '' : formatDuration(value))

const statColumns: Column<RouteStatsReply['routes'][number]>[] = [
  { id: 'class', head: 'Read', cell: ({ query_class }) => query_class },
  { id: 'store', head: 'Store', cell: ({ store }) => storeName(store) },
  { id: 'requests', head: 'Reads', number: true, cell: ({ requests }) => formatCount(requests) },
  { id: 'errors', head: 'Errors', number: true, cell: ({ errors }) => formatCount(errors) },
  {
    id: 'fallbacks',
    head: 'For the other store',
    number: true,
    wide: true,
    cell: ({ fallbacks }) => formatCount(fallbacks),
  },
  { id: 'p50', head: 'p50', number: true, cell: ({ p50_ms }) => ms(p50_ms) },
  { id: 'p95', head: 'p95', number: true, cell: ({ p95_ms }) => ms(p95_ms) },
]

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

import { api } from '../../api/client.ts'
import type { StoreBenchmark } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../app/use-search.ts'
import { formatDuration } from '../../ui/format.ts'
import { Actor, isUnderWay, Progress, pollWhile } from '../../ui/job.tsx'
import { Json } from '../../ui/json.tsx'
import { Badge, Button, Facts, State, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { ratioOf, ratioText } from './ratio.ts'

type Case = StoreBenchmark['cases'][number]

/** One benchmark: how far it is, and each query by store. */
export function BenchmarkPage({ job_id }: { job_id: string }) {
  const [, change] = useUrlState()
  const query = api.useQuery(
    'get',
    '/api/v2/observability/store-benchmark/runs/{job_id}',
    { params: { path: { job_id } } },
    { refetchInterval: ({ state }) => pollWhile([state.data?.state]) },
  )
  return (
    <div className={ui.stack}>
      <div>
        <Button small onClick={() => change({ run: undefined }, { push: true })}>
          ← All benchmarks
        </Button>
      </div>
      <Loaded query={query} what="Reading the benchmark">
        {(run) => (
          <>
            <div className={ui.row}>
              <h2>
                Benchmark of <Time at={run.created_at} />
              </h2>
              <State of={run.state} />
            </div>
            {isUnderWay(run.state) && (
              <Progress
                label={run.of === null ? 'Starting' : `${run.done} of ${run.of} queries`}
                done={run.done}
                {...(run.of !== null && { of: run.of })}
              />
            )}
            {run.stopped_early && (
              <p className={ui.notice}>It stopped at its limit of time. The rest was not run.</p>
            )}
            <Facts
              of={[
                ['Asked by', <Actor key="a" of={run.requested_by} />],
                ['Runs of each query', run.runs],
                ['Error', run.error && <Plain key="e">{run.error}</Plain>],
                ['Queries left out', run.unreadable > 0 ? run.unreadable : null],
              ]}
            />
            <Table
              label="Queries"
              columns={columns}
              rows={run.cases.map((each, at) => ({ ...each, at }))}
              keyOf={({ at }) => String(at)}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

const columns: Column<Case & { at: number }>[] = [
  {
    id: 'name',
    head: 'Query',
    cell: ({ name, origin, query }) => (
      <>
        <Plain>{name}</Plain> <span className={ui.soft}>{origin}</span>
        <Json value={query} open={0} />
      </>
    ),
  },
  { id: 'class', head: 'Read', wide: true, cell: ({ query_class }) => query_class },
  { id: 'clickhouse', head: 'ClickHouse', number: true, cell: (of) => median(of, 'clickhouse') },
  { id: 'postgres', head: 'PostgreSQL', number: true, cell: (of) => median(of, 'postgres') },
  { id: 'ratio', head: 'Faster', cell: ({ stores }) => ratioText(ratioOf(stores)) },
  {
    id: 'equal',
    head: 'Same rows',
    cell: ({ equal }) =>
      equal === null ? (
        'not compared'
      ) : (
        <Badge tone={equal ? 'good' : 'bad'}>{equal ? 'yes' : 'no'}</Badge>
      ),
  },
]

function median({ stores }: Case, name: string) {
  const own = stores.find(({ store }) => store === name)
  if (own === undefined) return 'not asked'
  if (own.error !== null) return <Plain>{own.error}</Plain>
  if (own.median_ms === null) return ''
  return (
    <>
      {formatDuration(own.median_ms)}
      {own.p95_ms !== null && <div className={ui.soft}>p95 {formatDuration(own.p95_ms)}</div>}
    </>
  )
}

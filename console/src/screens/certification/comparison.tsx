import { api } from '../../api/client.ts'
import type { CertificationComparison, ReleaseCertification } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { Button, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { estimateOf, type Gate } from './gates-table.tsx'
import { path } from './paths.ts'
import { formatMetric } from './texts.ts'
import { Verdict } from './verdict.tsx'

type Row = CertificationComparison['gates'][number] & { at: number }

/** Two certifications, gate by gate. */
export function Comparison({ base, head }: { base: string; head: string }) {
  const [, change] = useUrlState()
  const query = api.useQuery('get', `${path}/compare`, { params: { query: { base, head } } })
  return (
    <div className={ui.stack}>
      <div className={ui.row}>
        <Button small onClick={() => change({ base: undefined, head: undefined }, { push: true })}>
          ← All certifications
        </Button>
        <Button small onClick={() => change({ base: head, head: base })}>
          Swap
        </Button>
      </div>
      <Loaded query={query} what="Comparing">
        {(comparison) => (
          <>
            <h2>Gate by gate</h2>
            <Side title="Base" of={comparison.base} />
            <Side title="Head" of={comparison.head} />
            {!comparison.same_policy && (
              <p className={ui.notice}>The two were certified by different rules.</p>
            )}
            <Table
              label="Gates"
              columns={columns}
              rows={comparison.gates.map((gate, at) => ({ ...gate, at }))}
              keyOf={({ at }) => String(at)}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

function Side({ title, of }: { title: string; of: ReleaseCertification }) {
  return (
    <p className={ui.row}>
      <strong>{title}</strong>
      <Plain>{`${of.release.name}@${of.release.version}`}</Plain>
      <Plain>{of.environment ?? 'no environment'}</Plain>
      <Verdict of={of.result} />
      <Time at={of.created_at} />
    </p>
  )
}

const side = (gate: Gate | null) =>
  gate === null ? (
    'no such gate'
  ) : (
    <>
      <Verdict of={gate.verdict} /> {estimateOf(gate)}
    </>
  )

const columns: Column<Row>[] = [
  {
    id: 'gate',
    head: 'Gate',
    cell: ({ metric, kind }) => (
      <>
        {metric.replaceAll('_', ' ')} <div className={ui.soft}>{kind.replaceAll('_', ' ')}</div>
      </>
    ),
  },
  { id: 'base', head: 'Base', cell: ({ base }) => side(base) },
  { id: 'head', head: 'Head', cell: ({ head }) => side(head) },
  {
    id: 'change',
    head: 'Change',
    number: true,
    cell: ({ metric, change }) =>
      change !== null && `${change > 0 ? '+' : ''}${formatMetric(metric, change)}`,
  },
]

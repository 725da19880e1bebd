import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { TraceVerification } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { formatShare, formatUsd } from '../../ui/format.ts'
import { Actor, Progress, pollWhile } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Facts, State, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import { notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Answer } from './answer.tsx'
import { columns } from './task-runs.tsx'
import { ClaimVerdict, Trust } from './trust.tsx'

const path = '/api/v1/verification/traces/{trace_id}'

/** The verification of the answer of one trace: score, claims in the answer, evidence, runs. */
export function TracePart({ trace_id }: { trace_id: string }) {
  const params = { path: { trace_id } }
  const query = api.useQuery(
    'get',
    path,
    { params },
    { refetchInterval: ({ state }) => pollWhile([state.data?.status]) },
  )
  const summary = api.useQuery(
    'get',
    `${path}/summary`,
    { params },
    { enabled: query.data?.status === 'verified' },
  )
  return (
    <section className={ui.stack} aria-label="Verification of the answer">
      <Loaded query={query} what="Reading the verification">
        {(verification) => (
          <>
            <Head of={verification} />
            <Score
              of={verification}
              overridden={summary.data?.overridden ?? 0}
              corrected={summary.data?.trust_score_with_overrides ?? null}
            />
            {verification.run_id !== null && verification.status === 'verified' && (
              <Answer verification={verification} />
            )}
            <Runs trace_id={trace_id} />
          </>
        )}
      </Loaded>
    </section>
  )
}

function Head({ of }: { of: TraceVerification }) {
  const project_id = useProjectId()
  const isEditor = useHasRole('editor')
  const client = useQueryClient()
  const params = { path: { trace_id: of.trace_id } }
  const reload = async () => {
    await client.invalidateQueries({ queryKey: ['get', path] })
    await client.invalidateQueries({ queryKey: ['trace-verifications'] })
  }
  const verify = api.useMutation('post', `${path}/verify`, {
    onSuccess: reload,
    onError: notifyFault,
  })
  const cancel = api.useMutation('post', `${path}/cancel`, {
    onSuccess: reload,
    onError: notifyFault,
  })
  const estimate = api.useMutation('post', `${path}/estimate`, { onError: notifyFault })
  const body = { force_reverify: of.status === 'verified', async_mode: true, verifiers: null }
  return (
    <>
      <div className={ui.row}>
        <h2>Answer of a trace</h2>
        <State of={of.status} />
        <Link to="/p/$project_id/traces/$trace_id" params={{ project_id, trace_id: of.trace_id }}>
          Open the trace
        </Link>
        {of.status === 'pending' ? (
          <Button small disabled={!isEditor} onClick={() => cancel.mutate({ params })}>
            Cancel
          </Button>
        ) : (
          <>
            <Button
              small
              disabled={!isEditor || verify.isPending}
              onClick={() => verify.mutate({ params, body })}
            >
              {of.status === 'not_verified' ? 'Verify' : 'Verify again'}
            </Button>
            <Button
              small
              disabled={estimate.isPending}
              onClick={() => estimate.mutate({ params, body: { verifiers: null } })}
            >
              What would it cost?
            </Button>
          </>
        )}
      </div>
      {of.status === 'pending' && <Progress label="The verifiers are at work" />}
      {estimate.data !== undefined && (
        <p role="status">
          At most {formatUsd(estimate.data.cost_usd_max)} for {estimate.data.calls} calls of models
          and {estimate.data.claims} claims.
        </p>
      )}
      <p>
        <Plain>{of.message}</Plain>
      </p>
      {of.stale && (
        <p className={ui.notice}>The trace changed after this verification. Verify it again.</p>
      )}
      {of.error !== null && (
        <p className={ui.fault}>
          <Plain>{of.error.message}</Plain>
        </p>
      )}
    </>
  )
}

const caps: Record<string, string> = {
  contradiction: 'a claim is contradicted',
  not_found: 'a value was not found in what the agent saw',
  coverage: 'few claims were decided',
}

function Score({
  of,
  overridden,
  corrected,
}: {
  of: TraceVerification
  overridden: number
  corrected: number | null
}) {
  if (of.status !== 'verified') return null
  const counts = Object.entries(of.counts).filter(([, count]) => count > 0)
  return (
    <Facts
      of={[
        ['Trust', <Trust key="t" score={of.trust_score} interval={of.interval} />],
        [
          'Coverage',
          of.coverage !== null && `${formatShare(of.coverage)} of the claims are decided`,
        ],
        [
          'Limited because',
          of.caps.length > 0 ? of.caps.map((cap) => caps[cap] ?? cap).join('; ') : null,
        ],
        [
          'With overrides',
          overridden > 0 && corrected !== null
            ? `${corrected.toFixed(2)} (${overridden} corrected by people)`
            : null,
        ],
        [
          'Claims',
          <span key="c" className={ui.row}>
            {counts.map(([verdict, count]) => (
              <span key={verdict}>
                {count} <ClaimVerdict of={verdict} />
              </span>
            ))}
          </span>,
        ],
        ['Values', `${of.values_checked} checked, ${of.values_not_checked ?? 0} not checked`],
        [
          'Not compared',
          of.context && of.context.gaps.length > 0 ? of.context.gaps.join(', ') : null,
        ],
        ['Verifiers', of.verifiers.map(({ name, state }) => `${name}: ${state}`).join(', ')],
        ['Cost', formatUsd(of.cost_usd)],
        ['Asked by', of.requested_by && <Actor key="a" of={of.requested_by} />],
        ['Ended', of.ended_at && <Time key="e" at={of.ended_at} />],
      ]}
    />
  )
}

function Runs({ trace_id }: { trace_id: string }) {
  const project_id = useProjectId()
  const [{ run }] = useUrlState()
  const runs = usePages(
    ['trace-verifications', project_id, trace_id],
    (cursor, signal) =>
      call.GET(`${path}/runs`, {
        params: { path: { trace_id }, query: { limit: 20, cursor } },
        signal,
      }),
    (each) => each.runs,
  )
  return (
    <>
      <h3>Verifications of this answer</h3>
      {run !== undefined && (
        <p className={ui.soft}>The claims above are those of the chosen one.</p>
      )}
      <List label="Verifications" pages={runs} columns={columns} keyOf={({ run_id }) => run_id} />
    </>
  )
}

import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { ReleaseCertification } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useHasRole } from '../../session/project.ts'
import { formatCount } from '../../ui/format.ts'
import { BackButton } from '../../ui/here-link.tsx'
import { Actor, isUnderWay, Progress, pollWhile } from '../../ui/job.tsx'
import { Button, Facts, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { GatesTable } from './gates-table.tsx'
import { path } from './paths.ts'
import { StatementBox } from './statement-box.tsx'
import { explainCode } from './texts.ts'
import { Verdict } from './verdict.tsx'

const one = `${path}/{certification_id}` as const

/** One certification: the verdict and its reasons, gates, evidence, statement. */
export function CertificationPage({ id }: { id: string }) {
  const query = api.useQuery(
    'get',
    one,
    { params: { path: { certification_id: id } } },
    { refetchInterval: ({ state }) => pollWhile([state.data?.state]) },
  )
  return (
    <div className={ui.stack}>
      <BackButton all="certifications" change={{ id: undefined }} />
      <Loaded query={query} what="Reading the certification">
        {(certification) => (
          <>
            <Head of={certification} />
            <Why of={certification} />
            {certification.gates.length > 0 && (
              <>
                <h3>Gates</h3>
                <GatesTable gates={certification.gates} />
              </>
            )}
            {certification.state === 'ended' && <StatementBox of={certification} />}
            <About of={certification} />
          </>
        )}
      </Loaded>
    </div>
  )
}

function Head({ of }: { of: ReleaseCertification }) {
  const client = useQueryClient()
  const isEditor = useHasRole('editor')
  const cancel = api.useMutation('post', `${one}/cancel`, {
    onSuccess: async () => {
      notify('The certification is cancelled.')
      await client.invalidateQueries({ queryKey: ['get', one] })
    },
    onError: notifyFault,
  })
  const params = { path: { certification_id: of.certification_id } }
  return (
    <>
      <div className={ui.row}>
        <h2>
          <Plain>{`${of.release.name}@${of.release.version}`}</Plain>
        </h2>
        <Verdict of={of.result} />
        {isUnderWay(of.state) && isEditor && (
          <Button
            small
            look="danger"
            disabled={cancel.isPending}
            onClick={() => cancel.mutate({ params })}
          >
            Cancel
          </Button>
        )}
      </div>
      {isUnderWay(of.state) && (
        <Progress
          label={
            Date.parse(of.window.to) > serverNow()
              ? `Starts when its window has ended, at ${of.window.to}`
              : 'Reading the evidence'
          }
        />
      )}
    </>
  )
}

/** Says in sentences why the result is what it is. */
function Why({ of }: { of: ReleaseCertification }) {
  const decisive = of.gates.filter(({ tier }) => tier !== 'advisory')
  const open = decisive.filter(({ verdict }) => verdict !== 'passed')
  return (
    <div className={ui.stack}>
      {of.result === 'certified' && (
        <p>All {formatCount(decisive.length)} deciding gates passed, and no obstacle was found.</p>
      )}
      {of.error !== null && <Plain>{of.error}</Plain>}
      {(open.length > 0 || of.obstacles.length > 0) && (
        <ul>
          {of.obstacles.map((code) => (
            <li key={code}>Obstacle: {explainCode(code)}</li>
          ))}
          {open.map(({ metric, kind, verdict, reason }, at) => (
            <li key={`${metric} ${kind} ${String(at)}`}>
              {metric.replaceAll('_', ' ')} ({kind.replaceAll('_', ' ')}): {verdict}.{' '}
              {reason !== null && explainCode(reason)}
            </li>
          ))}
        </ul>
      )}
      {of.warnings.length > 0 && (
        <p className={ui.soft}>Warnings: {of.warnings.map(explainCode).join(' ')}</p>
      )}
      {of.same_as !== null && (
        <p className={ui.notice}>
          There was no new evidence, so this has the statement of an earlier certification.
        </p>
      )}
    </div>
  )
}

function About({ of }: { of: ReleaseCertification }) {
  const { tasks, ledger, baseline } = of
  return (
    <>
      <h3>Evidence and policy</h3>
      <Facts
        of={[
          [
            'Environment',
            of.environment === null ? 'none' : <Plain key="e">{of.environment}</Plain>,
          ],
          [
            'Window',
            <span key="w">
              <Time at={of.window.from} /> to <Time at={of.window.to} />
            </span>,
          ],
          ['Policy', <Plain key="p">{`${of.policy.id}, version ${of.policy.version}`}</Plain>],
          ['Digest of the policy', <code key="d">{of.policy.digest}</code>],
          ['Subject', <code key="s">{of.subject}</code>],
          ['Baseline', baseline && <Plain key="b">{`${baseline.name}@${baseline.version}`}</Plain>],
          ['Attempt', of.attempt && `${of.attempt} of ${of.max_attempts}`],
          ['Tasks', tasks && countsText(tasks)],
          ['Baseline tasks', of.baseline_tasks && countsText(of.baseline_tasks)],
          ['Ledger', ledger && countsText(ledger)],
          ['Eval runs', of.eval_run_ids.length > 0 ? of.eval_run_ids.length : null],
          ['Asked by', <Actor key="a" of={of.requested_by} />],
          ['Ended', of.ended_at && <Time key="t" at={of.ended_at} />],
          ['Valid until', of.expires_at && <Time key="v" at={of.expires_at} />],
        ]}
      />
    </>
  )
}

/** Lists counts that are not 0. */
function countsText(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0)
  return parts.map(([name, count]) => `${formatCount(count)} ${name}`).join(', ') || 'none'
}

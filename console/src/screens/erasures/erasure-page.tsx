import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import type { Erasure } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../session/project.ts'
import { downloadText } from '../../ui/download.ts'
import { formatCount } from '../../ui/format.ts'
import { BackButton } from '../../ui/here-link.tsx'
import { Actor, Progress, pollWhile } from '../../ui/job.tsx'
import { Button, Facts, State, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'

const path = '/api/v2/observability/erasures/{erasure_id}'

/** One erasure: how far it is, and its report. */
export function ErasurePage({ erasure_id }: { erasure_id: string }) {
  const query = api.useQuery(
    'get',
    path,
    { params: { path: { erasure_id } } },
    { refetchInterval: ({ state }) => pollWhile([state.data?.state]) },
  )
  return (
    <div className={ui.stack}>
      <BackButton all="erasures" change={{ erasure: undefined }} />
      <Loaded query={query} what="Reading the erasure">
        {(erasure) => (
          <>
            <div className={ui.row}>
              <h2>Report of an erasure</h2>
              <State of={erasure.state} />
              {erasure.receipt !== null && (
                <Button
                  small
                  onClick={() =>
                    downloadText(`erasure-${erasure_id}.json`, JSON.stringify(erasure, null, 2))
                  }
                >
                  Save the report
                </Button>
              )}
            </div>
            {erasure.state === 'running' && <Progress label={stepOf(erasure)} />}
            <About of={erasure} />
            {erasure.receipt !== null && <Receipt of={erasure.receipt} />}
          </>
        )}
      </Loaded>
    </div>
  )
}

function stepOf({ unreadable_at }: Erasure): string {
  if (unreadable_at === null) return 'Step 1 of 2: the stores hide the rows'
  return 'Step 2 of 2: the space is freed. No query finds the rows any longer'
}

function About({ of }: { of: Erasure }) {
  return (
    <Facts
      of={[
        ['Digest of the user', <code key="d">{of.user_id_digest}</code>],
        ['Reason', <Plain key="r">{of.reason}</Plain>],
        ['Asked by', <Actor key="a" of={of.requested_by} />],
        ['Asked', <Time key="c" at={of.created_at} />],
        ['Unreadable since', of.unreadable_at && <Time key="u" at={of.unreadable_at} />],
        ['Ended', of.ended_at && <Time key="e" at={of.ended_at} />],
      ]}
    />
  )
}

function Receipt({ of }: { of: NonNullable<Erasure['receipt']> }) {
  const project_id = useProjectId()
  return (
    <>
      <h3>What was deleted</h3>
      <Table
        label="Deleted rows"
        rows={Object.entries(of.counts)}
        keyOf={([kind]) => kind}
        columns={[
          { id: 'kind', head: 'Kind', cell: ([kind]) => kind.replaceAll('_', ' ') },
          { id: 'rows', head: 'Rows', number: true, cell: ([, rows]) => formatCount(rows) },
        ]}
      />
      <p>
        {of.purged
          ? 'No such row is left in a table.'
          : 'The space is freed when files are merged.'}
        {of.held_rows > 0 && ` ${formatCount(of.held_rows)} rows stay under a legal hold.`}
      </p>
      {of.remaining.length > 0 && (
        <>
          <h3>Where data of the user is left</h3>
          <ul>
            {of.remaining.map(({ what, detail, until }) => (
              <li key={what}>
                <strong>{what.replaceAll('_', ' ')}</strong>: <Plain>{detail}</Plain>{' '}
                {until !== null && (
                  <>
                    Until about <Time at={until} />.
                  </>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {of.archives.length > 0 && (
        <ul aria-label="Archives with data of the user">
          {of.archives.map((job_id) => (
            <li key={job_id}>
              <Link
                to="/p/$project_id/archives"
                params={{ project_id }}
                search={{ run: job_id } as never}
              >
                Archive {job_id.slice(-8)}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

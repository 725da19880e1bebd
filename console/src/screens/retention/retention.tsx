import { api } from '../../api/client.ts'
import type { RetentionPolicy, RetentionRun } from '../../api/schema.gen.d.ts'
import { useHasRole } from '../../app/project.ts'
import { useUrlState } from '../../app/use-search.ts'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { ManagedBy } from '../../ui/managed-by.tsx'
import { Heading, State, Tile, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import ui from '../../ui/ui.module.css'
import { PolicyEditor } from './policy-editor.tsx'
import { Run } from './run.tsx'
import { RunNow, Runs } from './runs.tsx'

/** Returns the policy of a reply, which is a run only for a dry run. */
function policyOf(reply: RetentionPolicy | RetentionRun): RetentionPolicy {
  if ('days' in reply) return reply
  throw new Error('The server sent a run in place of the policy')
}

/** How long data is kept: the policy, what it would delete, and what its runs deleted. */
export function Retention() {
  const [{ run }] = useUrlState()
  const isAdmin = useHasRole('admin')
  const policy = api.useQuery(
    'get',
    '/api/v2/observability/retention-policy',
    {},
    { select: policyOf },
  )
  return (
    <div className={ui.stack}>
      <Heading title="Retention">
        {isAdmin && (policy.data?.version ?? 0) > 0 && <RunNow />}
      </Heading>
      <Loaded query={policy} what="Reading the policy">
        {(stored) => (
          <>
            <ManagedBy by={stored.managed_by} />
            <div className={ui.tiles}>
              <Tile name="Next daily run">
                {stored.next_run_at === null ? 'None' : <Time at={stored.next_run_at} />}
              </Tile>
              <Tile name="Last run">
                {stored.last_run === null ? (
                  'None yet'
                ) : (
                  <>
                    <Time at={stored.last_run.ended_at} ago /> <State of={stored.last_run.state} />
                  </>
                )}
              </Tile>
              <Tile name="Rows deleted so far">{formatCount(stored.deleted_rows)}</Tile>
              <Tile name="Bytes deleted so far">{formatBytes(stored.deleted_bytes)}</Tile>
              <Tile name="Legal holds">{formatCount(stored.held_count)}</Tile>
            </div>
            <Tabs
              label="Retention"
              tabs={[
                {
                  id: 'policy',
                  title: 'Policy',
                  render: () => (
                    <PolicyEditor key={stored.version} stored={stored} isAdmin={isAdmin} />
                  ),
                },
                {
                  id: 'runs',
                  title: 'Runs',
                  render: () => (run === undefined ? <Runs /> : <Run job_id={run} hasBack />),
                },
              ]}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

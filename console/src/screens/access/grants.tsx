import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { ReportedProjectGrant } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { List } from '../../ui/list.tsx'
import { NeedsRole } from '../../ui/needs-role.tsx'
import { Badge, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'

/** The namespaces of clusters whose resources may name the project. */
export function Grants() {
  const isAdmin = useHasRole('admin')
  return isAdmin ? <GrantList /> : <NeedsRole what="Reading grants" needs="admin in the project" />
}

function GrantList() {
  const project_id = useProjectId()
  const grants = usePages(
    ['grants', project_id],
    (cursor, signal) =>
      call.GET('/api/v2/access/projects/{project_id}/grants', {
        params: { path: { project_id }, query: { limit: 50, cursor } },
        signal,
      }),
    (each) => each.grants,
  )
  return (
    <div className={ui.stack}>
      <p className={ui.soft}>
        A <code>ProjectGrant</code> lets namespaces of a cluster declare resources in this project,
        with these kinds, scopes and roles at most. Only an administrator of the cluster can change
        it.
      </p>
      <List
        label="Grants"
        pages={grants}
        keyOf={({ id }) => id}
        columns={columns}
        empty={
          <Empty title="No grants">
            <p>
              No cluster may declare resources in this project. Its administrator allows it with a{' '}
              <code>ProjectGrant</code>, and an operator reports it here.
            </p>
          </Empty>
        }
      />
    </div>
  )
}

const columns: Column<ReportedProjectGrant>[] = [
  {
    id: 'grant',
    head: 'ProjectGrant',
    cell: ({ name, cluster }) => (
      <>
        <Plain>{name}</Plain>
        <div className={ui.soft}>
          cluster <code>{cluster.slice(0, shownOfCluster)}</code>
        </div>
      </>
    ),
  },
  { id: 'namespaces', head: 'Namespaces', cell: (grant) => <Namespaces of={grant} /> },
  { id: 'kinds', head: 'Kinds', cell: ({ kinds }) => <Plain>{kinds.join(', ')}</Plain> },
  {
    id: 'most',
    head: 'At most',
    cell: ({ scopes, roles, max_keys }) => (
      <>
        <div>scopes: {scopes.length === 0 ? 'none' : <Plain>{scopes.join(', ')}</Plain>}</div>
        <div>roles: {roles.length === 0 ? 'none' : <Plain>{roles.join(', ')}</Plain>}</div>
        <div>{max_keys} keys in a namespace</div>
      </>
    ),
  },
  {
    id: 'revoked',
    head: 'Keys end',
    wide: true,
    cell: ({ revoke_after }) => `${revoke_after} after the grant`,
  },
  {
    id: 'reported',
    head: 'Reported',
    cell: ({ reported_at }) => (
      <>
        <Time at={reported_at} ago />{' '}
        {serverNow() - Date.parse(reported_at) > stale_ms && (
          <Badge tone="warn">no news since</Badge>
        )}
      </>
    ),
  },
]

const shownOfCluster = 8
/** Operators report every five minutes. */
const stale_ms = 15 * 60_000
const shownNames = 5

function Namespaces({ of }: { of: ReportedProjectGrant }) {
  const { namespaces, namespace_count, selector } = of
  const shown = namespaces.slice(0, shownNames)
  const more = namespace_count - shown.length
  return (
    <>
      {selector !== null && (
        <div>{selector === '' ? 'all namespaces' : <Plain>{`labels ${selector}`}</Plain>}</div>
      )}
      <div title={namespaces.join(', ')}>
        <Plain>{shown.join(', ')}</Plain>
        {more > 0 && ` and ${more} more`}
        {namespace_count === 0 && 'none at present'}
      </div>
    </>
  )
}

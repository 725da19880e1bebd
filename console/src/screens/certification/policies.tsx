import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { ReleasePolicy } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { formatCount } from '../../ui/format.ts'
import { BackButton, HereLink } from '../../ui/here-link.tsx'
import { Actor } from '../../ui/job.tsx'
import { Json } from '../../ui/json.tsx'
import { List } from '../../ui/list.tsx'
import { ManagedBy } from '../../ui/managed-by.tsx'
import { Badge, Button, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { policiesPath } from './paths.ts'
import { PolicyEditor } from './policy-editor.tsx'

/** The policies of the project; one of them is opened by the URL. */
export function Policies() {
  const [{ policy }] = useUrlState()
  return policy === undefined ? <PolicyList /> : <PolicyPage policy_id={policy} />
}

function PolicyList() {
  const project_id = useProjectId()
  const [, change] = useUrlState()
  const isAdmin = useHasRole('admin')
  const [name, setName] = useState('')
  const pages = usePages(
    ['release-policies', project_id],
    (cursor, signal) =>
      call.GET(policiesPath, { params: { query: { limit: 50, cursor } }, signal }),
    (each) => each.policies,
  )
  const open = (policy_id: string) => change({ policy: policy_id }, { push: true })
  return (
    <div className={ui.stack}>
      <form
        className={ui.row}
        onSubmit={(event) => {
          event.preventDefault()
          if (name.trim() !== '') open(name.trim())
        }}
      >
        <input
          aria-label="Id of a new policy"
          placeholder="Id of a new policy"
          value={name}
          disabled={!isAdmin}
          onChange={(event) => setName(event.target.value)}
        />
        <Button type="submit" disabled={!isAdmin || name.trim() === ''}>
          Write a policy…
        </Button>
        {!isAdmin && <span className={ui.soft}>Only administrators of the project write one.</span>}
      </form>
      <List
        label="Policies"
        pages={pages}
        columns={columns}
        keyOf={({ policy_id }) => policy_id}
        onOpen={({ policy_id }) => open(policy_id)}
        empty={
          <Empty title="No policies">
            <p>Without one, the built-in policy applies.</p>
            <Button onClick={() => open('default')}>Show the built-in policy</Button>
          </Empty>
        }
      />
    </div>
  )
}

const columns: Column<ReleasePolicy>[] = [
  {
    id: 'id',
    head: 'Policy',
    cell: ({ policy_id }) => (
      <HereLink change={{ policy: policy_id }}>
        <Plain>{policy_id}</Plain>
      </HereLink>
    ),
  },
  { id: 'version', head: 'Version', number: true, cell: ({ version }) => formatCount(version) },
  { id: 'gates', head: 'Gates', number: true, cell: ({ policy }) => policy.gates.length },
  {
    id: 'owner',
    head: 'Managed by',
    wide: true,
    cell: ({ managed_by }) =>
      managed_by && (
        <Plain>{`${managed_by.kind}/${managed_by.namespace}/${managed_by.name}`}</Plain>
      ),
  },
  {
    id: 'updated',
    head: 'Changed',
    number: true,
    cell: ({ updated_at }) => updated_at && <Time at={updated_at} ago />,
  },
  {
    id: 'by',
    head: 'By',
    wide: true,
    cell: ({ updated_by }) => updated_by && <Actor of={updated_by} />,
  },
]

function PolicyPage({ policy_id }: { policy_id: string }) {
  const isAdmin = useHasRole('admin')
  const query = api.useQuery('get', '/api/v1/reliability/phase10/benchmark-policy', {
    params: { query: { policy_id } },
  })
  return (
    <div className={ui.stack}>
      <BackButton all="policies" change={{ policy: undefined }} />
      <Loaded query={query} what="Reading the policy">
        {(stored) => (
          <>
            <div className={ui.row}>
              <h2>
                <Plain>{policy_id}</Plain>
              </h2>
              {stored.built_in ? (
                <Badge>built in: nothing is stored yet</Badge>
              ) : (
                <Badge>version {stored.version}</Badge>
              )}
            </div>
            <ManagedBy by={stored.managed_by} />
            <PolicyEditor
              key={`${policy_id} ${stored.version}`}
              policy_id={policy_id}
              stored={stored}
              isAdmin={isAdmin}
            />
            {!stored.built_in && <Versions policy_id={policy_id} />}
          </>
        )}
      </Loaded>
    </div>
  )
}

/** The versions of a policy: statements name them by digest. */
function Versions({ policy_id }: { policy_id: string }) {
  const project_id = useProjectId()
  const path = `${policiesPath}/{policy_id}/versions` as const
  const pages = usePages(
    ['release-policy-versions', project_id, policy_id],
    (cursor, signal) =>
      call.GET(path, { params: { path: { policy_id }, query: { limit: 20, cursor } }, signal }),
    (each) => each.versions,
  )
  return (
    <>
      <h3>Versions</h3>
      <List
        label="Versions"
        pages={pages}
        keyOf={({ version }) => String(version)}
        columns={[
          { id: 'version', head: 'Version', number: true, cell: ({ version }) => version },
          { id: 'at', head: 'Written', cell: ({ created_at }) => <Time at={created_at} /> },
          { id: 'by', head: 'By', wide: true, cell: ({ created_by }) => <Actor of={created_by} /> },
          {
            id: 'digest',
            head: 'Digest',
            wide: true,
            cell: ({ policy }) => <code title={policy.digest}>{policy.digest.slice(0, 12)}</code>,
          },
          { id: 'rules', head: 'Rules', cell: ({ policy }) => <Json value={policy} open={0} /> },
        ]}
      />
    </>
  )
}

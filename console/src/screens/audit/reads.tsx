import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { AuditedRead } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { useUrlState } from '../../app/use-search.ts'
import { TextField } from '../../ui/fields.tsx'
import { Actor } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import type { Chain } from './chain.ts'

/** Which person read which task, trace, conversation, document or query result. */
export function Reads({ chain }: { chain: Chain }) {
  const project_id = useProjectId()
  const [{ actor_id, resource_id }, change] = useUrlState()
  const query = {
    chain,
    limit: 50,
    ...(actor_id !== undefined && { actor_id }),
    ...(resource_id !== undefined && { resource_id }),
  }
  const reads = usePages(
    ['audited-reads', project_id, query],
    (cursor, signal) =>
      call.GET('/api/v2/audit/reads', { params: { query: { ...query, cursor } }, signal }),
    (each) => each.reads,
  )
  return (
    <div className={ui.stack}>
      <form
        key={`${actor_id} ${resource_id}`}
        className={ui.row}
        style={{ alignItems: 'end' }}
        onSubmit={(event) => {
          event.preventDefault()
          const values = new FormData(event.currentTarget)
          const text = (name: string) => String(values.get(name)).trim() || undefined
          change({ actor_id: text('actor'), resource_id: text('resource') })
        }}
      >
        <TextField label="Id of the person" name="actor" defaultValue={actor_id ?? ''} />
        <TextField label="Id of what was read" name="resource" defaultValue={resource_id ?? ''} />
        <Button type="submit">Filter</Button>
      </form>
      <List
        label="Reads of contents"
        pages={reads}
        columns={columns}
        keyOf={({ request_id, action, read_at }) => `${request_id} ${action} ${read_at}`}
        empty={
          <Empty title="No reads of contents">
            <p>
              A read of a task, trace, conversation, document or query result by a person is listed
              after about half a second.
            </p>
          </Empty>
        }
      />
    </div>
  )
}

const columns: Column<AuditedRead>[] = [
  { id: 'time', head: 'Time', cell: ({ read_at }) => <Time at={read_at} /> },
  {
    id: 'who',
    head: 'Who',
    cell: ({ actor_kind, actor_id }) => <Actor of={`${actor_kind}:${actor_id}`} />,
  },
  { id: 'action', head: 'Action', cell: ({ action }) => <Plain>{action}</Plain> },
  {
    id: 'what',
    head: 'What',
    cell: ({ resource_type, resource_id }) => (
      <Plain>{`${resource_type} ${resource_id ?? ''}`}</Plain>
    ),
  },
  {
    id: 'from',
    head: 'From',
    wide: true,
    cell: ({ origin }) => (origin === null ? 'erased' : <Plain>{origin.address}</Plain>),
  },
]

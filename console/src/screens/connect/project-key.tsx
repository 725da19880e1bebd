import { useState } from 'react'
import { api } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import { useHasRole, useProjectId } from '../../app/project.ts'
import { faultAt, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Fault } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'

/** Creates a project key for the lines, and shows it once. */
export function ProjectKey({
  createdKey,
  onCreated,
}: {
  createdKey: string | undefined
  onCreated: (key: string) => void
}) {
  const project_id = useProjectId()
  const isAdmin = useHasRole('admin')
  const [name, setName] = useState('first client')
  const create = api.useMutation('post', '/api/v2/access/projects/{project_id}/api-keys', {
    onSuccess: ({ key }) => key !== null && onCreated(key),
  })
  if (createdKey !== undefined) {
    return <ShownOnce title="Your project key. It is in the lines below." secret={createdKey} />
  }
  if (!isAdmin) {
    return (
      <p className={ui.notice}>
        The lines read the project key from LOOPTRACE_API_KEY. Only an administrator of the project
        can create a key: ask one for it.
      </p>
    )
  }
  return (
    <form
      className={ui.notice}
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate({ params: { path: { project_id } }, body: { name } })
      }}
    >
      <TextField
        label="Name of the new project key"
        value={name}
        required
        maxLength={200}
        onChange={(event) => setName(event.target.value)}
        fault={faultAt(faultsOf(create.error), '/name')}
        hint="Without a key here, the lines read it from LOOPTRACE_API_KEY."
      />
      <Button type="submit" look="primary" disabled={create.isPending}>
        {create.isPending ? 'Creating…' : 'Create a key for these lines'}
      </Button>
      {create.error !== null && <Fault error={create.error} />}
    </form>
  )
}

import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import { isOrganizationAdmin, useOrganization } from '../../session/organization.ts'
import { Changed } from '../../ui/changed.tsx'
import { faultAt, TextField } from '../../ui/fields.tsx'
import { Button, Facts, Time } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { type Own, toVersion, useWrite } from './own-project.ts'

/** The name of the project, and whether it is the person's default. */
export function General({ project, mayChange, reload }: Own) {
  const organization = useOrganization()
  return (
    <div className={ui.stack}>
      <Facts
        of={[
          ['Id', <code key="id">{project.id}</code>],
          ['Organization', organization && <Plain key="org">{organization.name}</Plain>],
          ['Created', <Time key="at" at={project.created_at} />],
          ['Your role', project.role],
          [
            'Scopes of keys',
            project.key_scopes === null ? 'no limit' : project.key_scopes.join(', '),
          ],
        ]}
      />
      <Name key={project.version} project={project} mayChange={mayChange} reload={reload} />
      <DefaultProject project_id={project.id} />
      {isOrganizationAdmin(organization) && (
        <NewProject organization_id={project.organization_id} />
      )}
    </div>
  )
}

function Name({ project, mayChange, reload }: Own) {
  const [name, setName] = useState(project.name)
  const write = useWrite('The name is saved.')
  return (
    <form
      className={ui.row}
      style={{ alignItems: 'end' }}
      onSubmit={(event) => {
        event.preventDefault()
        void write.run(() =>
          call.PUT('/api/v2/access/projects/{project_id}/settings', {
            params: toVersion(project),
            body: { name, key_scopes: project.key_scopes },
          }),
        )
      }}
    >
      <TextField
        label="Name of the project"
        value={name}
        required
        disabled={!mayChange}
        onChange={({ target }) => setName(target.value)}
        fault={faultAt(faultsOf(write.error), '/name')}
      />
      <Button type="submit" disabled={!mayChange || write.isRunning || name === project.name}>
        {write.isRunning ? 'Saving…' : 'Save the name'}
      </Button>
      {write.error !== undefined && <Changed error={write.error} onReload={reload} />}
    </form>
  )
}

function DefaultProject({ project_id }: { project_id: string }) {
  const write = useWrite('Calls without X-Project-ID use this project now.')
  return (
    <div className={ui.row}>
      <Button
        disabled={write.isRunning}
        onClick={() =>
          void write.run(() => call.PUT('/api/v1/auth/default-project', { body: { project_id } }))
        }
      >
        Make it my default project
      </Button>
      <span className={ui.soft}>Your calls of the API without X-Project-ID use your default.</span>
      {write.error !== undefined && <Fault error={write.error} />}
    </div>
  )
}

function NewProject({ organization_id }: { organization_id: string }) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const write = useWrite('The project is created.')
  const create = () =>
    write.run(async () => {
      const { data } = await call.POST('/api/v2/access/organizations/{organization_id}/projects', {
        params: { path: { organization_id } },
        body: { name },
      })
      if (data === undefined) return
      notify(`Connect a client to ${data.name} next.`)
      await navigate({ to: '/p/$project_id/connect', params: { project_id: data.id } })
    })
  return (
    <form
      className={ui.row}
      style={{ alignItems: 'end' }}
      onSubmit={(event) => {
        event.preventDefault()
        void create()
      }}
    >
      <TextField
        label="Name of another project of the organization"
        value={name}
        required
        onChange={({ target }) => setName(target.value)}
        fault={faultAt(faultsOf(write.error), '/name')}
      />
      <Button type="submit" disabled={write.isRunning || name.trim() === ''}>
        Create the project
      </Button>
      {write.error !== undefined && <Fault error={write.error} />}
    </form>
  )
}

import { useState } from 'react'
import { call } from '../../api/client.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Button, Time } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { type Own, useWrite } from './own-project.ts'

const path = '/api/v2/access/projects/{project_id}'

/** Ends the changes and the ingest of a project, or brings them back. */
export function ArchiveProject({ project, mayChange }: Own) {
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const isArchived = project.archived_at !== null
  const write = useWrite(isArchived ? 'The project is in use again.' : 'The project is archived.')
  const params = { path: { project_id: project.id } }
  const send = async () => {
    setOpen(false)
    setTyped('')
    await write.run(() =>
      isArchived
        ? call.POST(`${path}/unarchive`, { params })
        : call.POST(`${path}/archive`, { params }),
    )
  }
  return (
    <div className={ui.stack}>
      {project.archived_at !== null && (
        <p>
          The project was archived <Time at={project.archived_at} ago />.
        </p>
      )}
      <p>
        An archived project can be read. Completions, ingest and changes are refused, and its data
        stay until retention deletes them. An administrator can bring it back; its keys are then
        valid again. A project is not deleted as a whole: set a retention policy, or erase users.
      </p>
      {write.error !== undefined && <Fault error={write.error} />}
      <div>
        <Button
          look={isArchived ? 'primary' : 'danger'}
          disabled={!mayChange || write.isRunning}
          onClick={() => (isArchived ? void send() : setOpen(true))}
        >
          {isArchived ? 'Bring the project back' : 'Archive the project'}
        </Button>
      </div>
      <Confirm
        title="Archive the project"
        action="Archive the project"
        open={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={() => void send()}
        isRunning={typed !== project.name}
      >
        <p>
          Applications that send to <Plain>{project.name}</Plain> get errors at once. Type its name
          to confirm.
        </p>
        <TextField
          label="Name of the project"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </Confirm>
    </div>
  )
}

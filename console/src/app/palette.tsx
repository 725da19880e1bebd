import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useProjectId } from '../session/project.ts'
import { Dialog } from '../ui/dialog.tsx'
import css from './palette.module.css'
import { places } from './places.ts'

type Command = { title: string; hint: string; path: string }

const traceId = /^[0-9a-f]{32}$|^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns the screens that match a text, and the task or trace that it could name. */
export function findCommands(text: string): Command[] {
  const wanted = text.trim().toLowerCase()
  const screens = places
    .filter(({ title, group }) => `${title} ${group}`.toLowerCase().includes(wanted))
    .map(({ title, key, path }) => ({ title, hint: `g ${key}`, path }))
  if (wanted === '') return screens
  const id = encodeURIComponent(text.trim())
  const trace = { title: `Open trace ${text.trim()}`, hint: 'trace', path: `traces/${id}` }
  const task = { title: `Open task ${text.trim()}`, hint: 'task', path: `tasks/${id}` }
  const search = {
    title: `Search tasks for “${text.trim()}”`,
    hint: 'search',
    path: `tasks?q=${id}`,
  }
  return [...(traceId.test(wanted) ? [trace] : []), ...screens, task, search]
}

/** The command palette: type a screen, the id of a task or trace, or words to search for. */
export function Palette({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Go to" open onClose={onClose}>
      <Commands onClose={onClose} />
    </Dialog>
  )
}

function Commands({ onClose }: { onClose: () => void }) {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const commands = findCommands(text)
  const chosen = Math.min(at, commands.length - 1)
  const run = ({ path }: Command) => {
    onClose()
    void navigate({ href: `/p/${project_id}/${path}` })
  }
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt((chosen + step + commands.length) % commands.length)
    }
    const command = commands[chosen]
    if (event.key === 'Enter' && command !== undefined) run(command)
  }
  return (
    <>
      <input
        role="combobox"
        aria-label="Screen, task, trace, or words"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={`command-${chosen}`}
        placeholder="Screen, task, trace, or words"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id="commands" role="listbox" aria-label="Matches" className={css.list}>
        {commands.map((command, index) => (
          <div
            key={command.path}
            id={`command-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className={css.command}
            onClick={() => run(command)}
            onKeyDown={onKeyDown}
          >
            <span>{command.title}</span>
            <kbd>{command.hint}</kbd>
          </div>
        ))}
      </div>
    </>
  )
}

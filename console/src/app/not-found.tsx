import { Link } from '@tanstack/react-router'
import { Empty } from '../ui/states.tsx'

/** The page of an address that has no screen. */
export function NotFound() {
  return (
    <Empty title="There is no such page">
      <p>The address may be cut, or come from another version.</p>
      <Link to="/">Go to the start</Link>
    </Empty>
  )
}

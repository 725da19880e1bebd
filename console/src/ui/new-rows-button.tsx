import { Button } from './parts.tsx'

/** Says how many rows wait, and puts them on top of the list. */
export function NewRowsButton({ count, show }: { count: number; show: () => void }) {
  const showOnTop = () => {
    show()
    window.scrollTo({ top: 0 })
  }
  return (
    <span role="status">
      {count > 0 && (
        <Button small look="primary" onClick={showOnTop}>
          {count >= 50 ? '50 or more' : count} new
        </Button>
      )}
    </span>
  )
}

import type { PageEnd } from '../timeline-entry.ts'
import type { TaskWindow } from './task-window.ts'

/**
 * Returns the ids of tool calls that calls of a page bring as history, where rows before the window
 * asked for them.
 */
export function unreadIds({ unread, frontier }: TaskWindow, after: PageEnd | undefined): string[] {
  const from = after?.position.time ?? 0n
  return unread.flatMap(({ asked_at, tool_call_id }) => {
    const isOnPage = asked_at >= from && (frontier === undefined || asked_at < frontier)
    return isOnPage && tool_call_id !== '' ? [tool_call_id] : []
  })
}

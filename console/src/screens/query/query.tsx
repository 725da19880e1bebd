import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Query() {
  return <Heading title="Query" />
}

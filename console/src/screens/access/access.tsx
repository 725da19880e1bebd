import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Access() {
  return <Heading title="Access" />
}

import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Connect() {
  return <Heading title="Connect" />
}

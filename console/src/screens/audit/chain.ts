/** The records of the project's organization, or those of no organization, such as sign-ins. */
export type Chain = 'organization' | 'installation'

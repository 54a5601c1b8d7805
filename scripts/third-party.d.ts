/** The text of THIRD-PARTY.md. */
export declare function thirdPartyNotices(): string;

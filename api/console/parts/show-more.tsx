interface ShowMoreProps {
  readonly pages: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    fetchNextPage(): Promise<unknown>;
  };
}

/** Reads the next page of a list that grows at its end; nothing where the list is complete. */
export function ShowMore({ pages }: ShowMoreProps) {
  if (!pages.hasNextPage) return null;
  return (
    <div>
      <button
        type="button"
        className="button"
        onClick={() => {
          if (!pages.isFetchingNextPage) void pages.fetchNextPage();
        }}
      >
        Show more
      </button>
    </div>
  );
}

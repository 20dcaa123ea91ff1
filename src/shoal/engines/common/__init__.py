"""What every engine needs: file formats, dictionary codes, row hashes, and tables held in memory."""
